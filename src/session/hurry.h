// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "lowtide/plan.h"
#include "run/engine/stalls.h"

namespace lowtide::session {

struct HurriedPlan {
  Plan plan;
  // How many fetches start earlier.
  std::int64_t fetches = 0;
};

// Starts the fetches that came late earlier, each by about as much as it was late, as far as memory
// allows. The worst ones are seen to first.
// Requires: verify() finds nothing wrong with the plan.
HurriedPlan hurry(const Problem& problem, Plan plan, std::span<const engine::Stall> stalls);

}  // namespace lowtide::session
