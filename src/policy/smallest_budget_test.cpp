// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/smallest_budget.h"

#include <set>

#include <gtest/gtest.h>

namespace lowtide::policy {
namespace {

TEST(SmallestBudget, IsFoundToTheByteWhereBudgetsAreSmall) {
  for (std::int64_t limit = 1; limit <= 100; ++limit) {
    EXPECT_EQ(smallest_budget(0, 100, [limit](std::int64_t bytes) { return bytes >= limit; }),
              limit);
  }
}

TEST(SmallestBudget, IsWithinAHundredthWhereTheyAreLarge) {
  for (const std::int64_t limit : {1, 123'456, 5'000'000, 10'000'000}) {
    const std::int64_t found =
        smallest_budget(0, 10'000'000, [limit](std::int64_t bytes) { return bytes >= limit; });
    EXPECT_GE(found, limit);
    EXPECT_LE(found, limit + 100'000);
  }
}

TEST(SmallestBudget, WhatIsReturnedHasBeenTriedOrIsTheUpperEnd) {
  // Works here and there only, as real planners do.
  std::set<std::int64_t> worked{1000};
  const auto works = [&worked](std::int64_t bytes) {
    if (bytes % 3 != 0) return false;
    worked.insert(bytes);
    return true;
  };
  EXPECT_TRUE(worked.contains(smallest_budget(100, 1000, works)));
}

TEST(SmallestBudget, NothingIsTriedWhenTheIntervalIsNarrow) {
  EXPECT_EQ(smallest_budget(999, 1000,
                            [](std::int64_t) {
                              ADD_FAILURE() << "tried";
                              return true;
                            }),
            1000);
}

// Refuses below 70, and names a little more than it was asked for, at most 100.
TEST(FirstGrantedBudget, AsksForWhatTheLastRefusalNamed) {
  std::vector<std::int64_t> asked;
  const auto plan = [&](const Problem& problem) -> PlanOutcome {
    asked.push_back(problem.budget_bytes);
    if (problem.budget_bytes >= 70) return Plan{};
    return Refusal{.reason = "too little", .smallest_budget_bytes = problem.budget_bytes + 15};
  };
  EXPECT_EQ(first_granted_budget(Problem{}, 50, plan), 80);
  EXPECT_EQ(asked, (std::vector<std::int64_t>{50, 65, 80}));
}

}  // namespace
}  // namespace lowtide::policy
