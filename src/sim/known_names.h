// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "lowtide/plan.h"

namespace lowtide::sim {

// Returns the plan; throws InvalidInput if it names what does not exist.
const Plan& with_known_names(const Problem& problem, const Plan& plan);

}  // namespace lowtide::sim
