// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "cost/op_cost.h"
#include "lowtide/plan.h"
#include "trace/lifetimes.h"

namespace lowtide::plan {

// A value that stays on the device past its natural death, because replays start from it.
struct ExtendedLife {
  ValueId value;
  trace::Tick until = 0;
};

// One small source that the program lets go of early (a batch, a scalar) would make everything
// computed from it final. This chooses the sources worth holding, the smallest first, as long as
// they take no more than a twentieth of the budget together, each until the last tick that needs
// anything computed from it. Sources that the optimizer overwrites are not held: that would take a
// copy of each parameter. None is held when the plain step fits.
std::vector<ExtendedLife> hold_sources(const Problem& problem, const trace::Lifetimes& lifetimes,
                                       const cost::CostTable& costs);

}  // namespace lowtide::plan
