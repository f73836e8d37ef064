// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "support/policy_cases.h"
#include "traces.h"

namespace lowtide::contract {

// The budgets, in percent of the plain peak, at which the suite plans a step with a policy: all of
// 100, 90, 70, 50, 35 and 20 for every policy of the catalogue, but for a few slow pairs; three of
// them for variants on the long logs, and one for long steps under a sanitizer.
std::vector<int> budgets_for(const support::PolicyCase& policy, const TraceCase& trace);

}  // namespace lowtide::contract
