// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "traces.h"

namespace lowtide::contract {

// The budgets, in percent of the plain peak, at which the suite plans a step with a policy: all of
// 100, 90, 70, 50, 35 and 20, but for a few slow pairs.
std::vector<int> budgets_for(const std::string& policy, const TraceCase& trace);

}  // namespace lowtide::contract
