// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "cost/op_cost.h"
#include "lowtide/plan.h"
#include "policy/gap_writer.h"

namespace lowtide::policy {

// Schedules the copies back of swaps, from the end of the step: each gets the latest time on the
// link, `lead` times as long as it takes, that ends when it is needed, and begins then or as soon
// after that as there is room in `tick_bytes`. `costs` says how long ops take.
// Requires: each issue is its need, and a tier if there are any swaps.
void fetch_in_time(const Problem& problem, const cost::CostTable& costs, double lead,
                   std::vector<SwapDecision>& swaps, std::vector<std::int64_t>& tick_bytes);

}  // namespace lowtide::policy
