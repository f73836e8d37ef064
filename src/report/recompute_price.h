// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "lowtide/ids.h"
#include "report/study.h"

namespace lowtide::report {

// What it would take to make values again at some place of a step, with what lies on the device
// there.
class RecomputePrices {
 public:
  // The step must outlive it.
  explicit RecomputePrices(const SimulatedStep& step);

  // Seconds of the ops that would run before `op`. Nothing if one of them may not run again, reads
  // what was overwritten since, or if they are more than some hundred.
  std::optional<double> of(ValueId value, OpId op) const;

 private:
  bool is_on_device(ValueId value, OpId op) const;

  const SimulatedStep& step_;
  // By storage: the stays of its log.
  std::vector<std::vector<const sim::Stay*>> stays_;
};

}  // namespace lowtide::report
