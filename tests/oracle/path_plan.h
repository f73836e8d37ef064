// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "lowtide/plan.h"
#include "replay_model.h"

namespace lowtide::oracle {

// A way through the states of the model as a plan that does the same: a Drop or Run in the prelude
// for each such step, a Drop for what the model drops by itself, and Holds for what is there past
// its natural life. The budget is left to the caller.
Plan plan_of_path(const Trace& trace, const NaturalLives& lives, const State& start,
                  const std::vector<Step>& path);

}  // namespace lowtide::oracle
