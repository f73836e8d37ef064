// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "policy/hybrid/tide_step.h"

namespace lowtide::policy {

// What it takes to have a value again, as the step goes on and values come and go.
class ReplayPrices {
 public:
  // `shared` is the part of an op's seconds that counts where the op has to be replayed anyway, for
  // the sake of another value.
  // `host_share`: see TideStep::replay_seconds.
  ReplayPrices(const TideStep& step, double shared, double host_share);

  void set_here(ValueId value, bool here) { here_[value.slot()] = here; }

  // Seconds to compute the value if it were dropped: its producer, and what else would have to be
  // replayed before that.
  double seconds(ValueId value, trace::Tick now);

  // When somebody asks for it next: a read, or the replay of a dropped value made from it.
  trace::Tick next_need(ValueId value, trace::Tick now) const;

 private:
  bool is_replayed_anyway(OpId op, trace::Tick now, ValueId but) const;

  const TideStep& step_;
  double shared_;
  double host_share_;
  // By value: whether it is within reach, on the device or in a tier.
  std::vector<bool> here_;
  // By op: the number of the last search that met it.
  std::vector<std::int32_t> seen_;
  std::int32_t searches_ = 0;
  std::vector<std::pair<OpId, double>> open_;
};

}  // namespace lowtide::policy
