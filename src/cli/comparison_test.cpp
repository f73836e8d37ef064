// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/comparison.h"

#include <utility>
#include <vector>

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

TEST(Comparison, RanksThePlansOfEachBudget) {
  std::vector<ComparedPlan> plans{row("80%", 3, 1), refused("80%"),   row("80%", 2, 1),
                                  row("60%", 5, 2), row("60%", 5, 1), refused("40%")};
  rank(plans);
  std::vector<std::pair<double, std::int64_t>> order;
  std::vector<bool> best;
  for (const ComparedPlan& plan : plans) {
    order.emplace_back(plan.step_seconds, plan.peak_bytes);
    best.push_back(plan.is_best);
  }
  EXPECT_EQ(order, (std::vector<std::pair<double, std::int64_t>>{
                       {2, 1}, {3, 1}, {0, 0}, {5, 1}, {5, 2}, {0, 0}}));
  EXPECT_EQ(best, (std::vector<bool>{true, false, false, true, false, false}));
}

TEST(Comparison, RanksRefusalsByTheBudgetThatWouldDo) {
  std::vector<ComparedPlan> plans{refused("80%"), refused("80%")};
  plans[1].refusal->smallest_budget_bytes = 5;
  rank(plans);
  EXPECT_EQ(plans[0].refusal->smallest_budget_bytes, 5);
  EXPECT_FALSE(plans[0].is_best);
}

}  // namespace
}  // namespace lowtide::cli
