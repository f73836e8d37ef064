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

}  // namespace
}  // namespace lowtide::policy
