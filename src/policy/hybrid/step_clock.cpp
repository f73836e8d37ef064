// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/step_clock.h"

#include <algorithm>
#include <cmath>

#include "cost/op_cost.h"

namespace lowtide::policy {

using trace::Tick;

StepClock::StepClock(const Problem& problem) {
  start_.reserve(problem.trace->ops().size() + 1);
  end_.reserve(problem.trace->ops().size() + 1);
  double host = 0;
  double device = 0;
  for (const Op& op : problem.trace->ops()) {
    host += cost::issue_seconds(op, problem.machine);
    start_.push_back(std::max(host, device));
    device = start_.back() + cost::op_seconds(*problem.trace, op, problem.machine);
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
