// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "session/attendance.h"

#include <algorithm>

namespace lowtide::session {

bool Attendance::is_calm(const StepUse& step) {
  if (step.evictions > 0 || step.overflow_bytes > 0) return false;
  // What was made in this step and stays will be there at the next step's peak too.
  return step.peak_bytes <= step.budget_bytes - std::max<std::int64_t>(step.growth_bytes, 0);
}

bool Attendance::may_step_aside_after(const StepUse& step) {
  if (step.overflow_bytes > 0) patience_ = std::min(4 * patience_, kMostPatience);
  calm_steps_ = is_calm(step) ? calm_steps_ + 1 : 0;
  return calm_steps_ >= patience_;
}

}  // namespace lowtide::session
