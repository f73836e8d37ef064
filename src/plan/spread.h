// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "lowtide/plan.h"

// Plans for host memory with a disk behind it, from policies that know of one tier: the policy
// plans for a tier as large as both and as slow as the slower one, and its values are then spread
// over both.

namespace lowtide::plan {

// All tiers as one, which has the name and the place of the first.
Problem with_one_tier(Problem problem);

// As many storages as fit stay in the first tier, those that are away for the shortest time; the
// others go to the second. Half of the first is left for what passes through it. A plan that fits
// stays as it is. Requires: everything moves to the first tier.
Plan spread_over_tiers(const Problem& problem, Plan plan);

}  // namespace lowtide::plan
