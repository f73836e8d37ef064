// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "lowtide/plan.h"
#include "policy/hybrid/tide_step.h"

namespace lowtide::policy {

// Tries every way to drop and replay the values of a step of a few ops, cheapest first, and returns
// the actions of the cheapest that fits, with each replay as often and in whatever order it takes.
// Nothing if there is none, if the step has more than 64 values, or if it has not come to the end
// after so many states (a state is a tick and what is there).
// `host_share`: see TideStep::replay_seconds.
std::optional<std::vector<Action>> cheapest_replays(const TideStep& step, double host_share,
                                                    std::size_t most_states);

}  // namespace lowtide::policy
