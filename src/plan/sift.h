// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "plan/findings.h"

namespace lowtide::plan {

// The part of a plan that a walk can follow: without actions that name what does not exist or say
// twice what can be said once, each of which is reported. Reports lossy implementations as well.
// What stays has nothing that check_names finds. Orders stay as they are; see order_check.h.
Plan sift(const Problem& problem, const Plan& plan, Findings& findings);

}  // namespace lowtide::plan
