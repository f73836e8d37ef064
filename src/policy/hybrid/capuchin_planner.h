// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "lowtide/plan.h"
#include "policy/gap_writer.h"

namespace lowtide::policy {

struct CapuchinOptions {
  // Goes on until the written plan fits, rather than until the bytes saved reach the overshoot.
  bool until_fits = true;
  bool may_swap = true;
  bool may_recompute = true;
  // Hidden swaps leave values below this share of the mean size alone: their free time is the
  // longest and their use the least.
  double ignore_below = 0.1;
};

// The best plan the method finds for the budget; its peak may be above it.
WrittenPlan plan_capuchin(const Problem& problem, const CapuchinOptions& options);

}  // namespace lowtide::policy
