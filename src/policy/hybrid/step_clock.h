// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "cost/op_cost.h"
#include "lowtide/plan.h"
#include "trace/lifetimes.h"

namespace lowtide::policy {

// When each op of the plain step starts and ends: an op waits for the one before it and for the
// host to issue it.
class StepClock {
 public:
  explicit StepClock(const Problem& problem);
  // In another order of the ops.
  StepClock(const Problem& problem, const std::vector<OpId>& sequence);
  // With other times of ops than the traced ones.
  StepClock(const Problem& problem, const cost::CostTable& costs);

  double start(trace::Tick tick) const { return start_[static_cast<std::size_t>(tick)]; }
  // The end of tick -1 is the start of the step.
  double end(trace::Tick tick) const { return tick < 0 ? 0 : end_[static_cast<std::size_t>(tick)]; }
  // The last tick that has started by then, and the first that has not.
  trace::Tick last_started_by(double seconds) const;
  trace::Tick first_starting_from(double seconds) const;

 private:
  StepClock(const Problem& problem, const std::vector<OpId>& sequence,
            const cost::CostTable& costs);

  // One entry more than ops: the end of the step.
  std::vector<double> start_;
  std::vector<double> end_;
};

}  // namespace lowtide::policy
