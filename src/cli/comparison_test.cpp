// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/comparison.h"

#include <gtest/gtest.h>

namespace lowtide::cli {
namespace {

ComparedPlan row(const char* budget, double seconds, std::int64_t peak) {
  ComparedPlan plan;
  plan.budget = budget;
  plan.step_seconds = seconds;
  plan.peak_bytes = peak;
  return plan;
}

ComparedPlan refused(const char* budget) {
  ComparedPlan plan = row(budget, 0, 0);
  plan.refusal = Refusal{"too small", 10};
  return plan;
}

TEST(Comparison, MarksTheQuickestPlanOfEachBudget) {
  std::vector<ComparedPlan> plans{row("80%", 3, 1), refused("80%"),   row("80%", 2, 1),
                                  row("60%", 5, 2), row("60%", 5, 1), refused("40%")};
  mark_best(plans);
  std::vector<bool> best;
  for (const ComparedPlan& plan : plans) best.push_back(plan.is_best);
  EXPECT_EQ(best, (std::vector<bool>{false, false, true, false, true, false}));
}

}  // namespace
}  // namespace lowtide::cli
