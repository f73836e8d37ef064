// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/saved_values.h"

#include <gtest/gtest.h>

#include "sim/test_step.h"

namespace lowtide::policy {
namespace {

using sim::TestStep;

const TestStep& step() {
  static const TestStep kStep(R"(
storage a 4 activation
storage b 2 activation
storage c 2 activation
storage g 2 temporary
op f forward : -> a
op g forward : a -> b
op h forward : b -> c
op cb backward : c -> g
op bb backward : b g -> g
op ab backward : a g -> g
)");
  return kStep;
}

SavedValue saved(const char* name) {
  const Trace& trace = *step().problem.trace;
  return saved_value(trace, *trace.lifetimes(), step().value(name)).value_or(SavedValue{});
}

TEST(SavedValues, LieIdleBetweenThePasses) {
  EXPECT_EQ(saved("a.0").last_forward, 1);
  EXPECT_EQ(saved("a.0").first_backward, 5);
  EXPECT_TRUE(saved("a.0").is_read_forward);
  EXPECT_EQ(saved("b.0").last_forward, 2);
  // The backward pass reads c right after it is made.
  EXPECT_FALSE(saved("c.0").value.valid());
  EXPECT_EQ(backward_start(*step().problem.trace, *step().problem.trace->lifetimes()), 3);
}

TEST(SavedValues, LeaveOldestFirstAndNoMoreThanTheBudgetAsksFor) {
  const cost::CostTable costs(*step().problem.trace, step().problem.machine);
  std::vector<std::int64_t> bytes{4, 6, 8, 10, 10, 8, 2};
  const auto swaps = move_least_recently_used({saved("a.0"), saved("b.0")}, costs, 7, bytes);
  ASSERT_EQ(swaps.size(), 1U);
  EXPECT_EQ(swaps[0].value, step().value("a.0"));
  EXPECT_EQ(bytes, (std::vector<std::int64_t>{4, 6, 4, 6, 6, 8, 2}));

  bytes = {4, 6, 8, 10, 10, 8, 2};
  EXPECT_EQ(move_least_recently_used({saved("a.0"), saved("b.0")}, costs, 5, bytes).size(), 2U);
  EXPECT_EQ(bytes, (std::vector<std::int64_t>{4, 6, 4, 4, 6, 8, 2}));
}

TEST(SavedValues, ComeBackEarlyWhereThereIsRoom) {
  SwapDecision swap{step().value("a.0"), TierId{0}, 1, 5, 5};
  std::vector<std::int64_t> bytes{4, 6, 4, 4, 3, 8, 2};
  fetch_early(swap, 0, 4, 7, bytes);
  EXPECT_EQ(swap.issue, 4);
  EXPECT_EQ(bytes, (std::vector<std::int64_t>{4, 6, 4, 4, 7, 8, 2}));
  fetch_early(swap, 0, 4, 100, bytes);
  EXPECT_EQ(swap.issue, 2);
}

}  // namespace
}  // namespace lowtide::policy
