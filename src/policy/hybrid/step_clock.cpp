// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/step_clock.h"

#include <algorithm>
#include <cmath>

namespace lowtide::policy {

using trace::Tick;

StepClock::StepClock(const Problem& problem)
    : StepClock(problem, problem.trace->lifetimes()->sequence()) {}

StepClock::StepClock(const Problem& problem, const std::vector<OpId>& sequence)
    : StepClock(problem, sequence, cost::CostTable(*problem.trace, problem.machine)) {}

StepClock::StepClock(const Problem& problem, const cost::CostTable& costs)
    : StepClock(problem, problem.trace->lifetimes()->sequence(), costs) {}

StepClock::StepClock(const Problem& problem, const std::vector<OpId>& sequence,
                     const cost::CostTable& costs) {
  start_.reserve(sequence.size() + 1);
  end_.reserve(sequence.size() + 1);
  double host = 0;
  double device = 0;
  for (const OpId id : sequence) {
    host += cost::issue_seconds(problem.trace->op(id), problem.machine);
    start_.push_back(std::max(host, device));
    device = start_.back() + costs.op_seconds[id.slot()];
    end_.push_back(device);
  }
  start_.push_back(device);
  end_.push_back(device);
}

Tick StepClock::last_started_by(double seconds) const {
  return first_starting_from(std::nextafter(seconds, 1e300)) - 1;
}

Tick StepClock::first_starting_from(double seconds) const {
  return static_cast<Tick>(std::lower_bound(start_.begin(), start_.end(), seconds) -
                           start_.begin());
}

}  // namespace lowtide::policy
