// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace lowtide::session {

// What one step took.
struct StepUse {
  std::int64_t budget_bytes = 0;
  std::int64_t peak_bytes = 0;
  // How much more is held after it than before: optimizer states that the first step makes, say.
  std::int64_t growth_bytes = 0;
  std::int64_t evictions = 0;
  // Put in host memory because it did not fit while nobody watched the ops.
  std::int64_t overflow_bytes = 0;
};

// Decides after each step whether the ops of the next one are watched. If the steps fit, nothing
// need be known of them, and watching costs time. If one then takes more, it is slow, since its
// excess lies in host memory; so after such a surprise more calm steps are asked for than before.
class Attendance {
 public:
  // Requires: called once for each step, in their order.
  bool may_step_aside_after(const StepUse& step);

 private:
  static constexpr std::int64_t kMostPatience = 1024;
  static bool is_calm(const StepUse& step);

  std::int64_t patience_ = 1;
  std::int64_t calm_steps_ = 0;
};

}  // namespace lowtide::session
