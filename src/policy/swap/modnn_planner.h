// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "lowtide/plan.h"
#include "policy/gap_writer.h"

namespace lowtide::policy {

struct ModnnOptions {
  bool may_offload = true;
  bool may_choose = true;
};

// Moves saved values and lowers algorithms until the step fits; see modnn.cpp. A plan that is above
// the budget is the one with the smallest peak that this finds.
WrittenPlan plan_modnn(const Problem& problem, const ModnnOptions& options);

}  // namespace lowtide::policy
