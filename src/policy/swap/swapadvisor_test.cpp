// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

// Two branches in turns, each with a large value that is gone when the branch is through.
constexpr std::string_view kBranches = R"(
storage a 4 activation
storage b 4 activation
storage c 1 activation
storage d 1 activation
op fa forward : -> a
op fb forward : -> b
op ga forward : a -> c free a
op gb forward : b -> d free b
op h forward : c d ->
)";

TEST(SwapAdvisor, AnotherOrderSavesWhatTracedOrderHasToSwap) {
  const TestStep step(kBranches, 6);
  const PolicyOptions without_pools{{"pools", "no"}};
  // One branch after the other: at most one of the large values is there.
  const Plan plan = plan_of(step, "swapadvisor", without_pools);
  EXPECT_EQ(count_of<Move>(plan), 0);
  EXPECT_EQ(count_of<Order>(plan), 1);
  EXPECT_EQ(simulate(step.problem, plan).seconds, 5);
  EXPECT_GT(simulate(step.problem, plan_of(step, "belady")).seconds, 5);
}

TEST(SwapAdvisor, PoolsOfEqualSlotsTakeRoomOfTheirOwn) {
  // A slot for a and b, and two for c and d.
  const TestStep step(kBranches, 6);
  const Plan plan = plan_of(step, "swapadvisor");
  EXPECT_EQ(count_of<Move>(plan), 0);
  EXPECT_EQ(count_of<Place>(plan), 4);
  EXPECT_NE(step.actions(plan).find("place a.0 pool 1\nplace b.0 pool 1\n"
                                    "place c.0 pool 0\nplace d.0 pool 0\n"),
            std::string::npos)
      << step.actions(plan);
  // Without room for both pools there are none.
  EXPECT_EQ(count_of<Place>(plan_of(TestStep(kBranches, 5), "swapadvisor")), 0);
}

TEST(SwapAdvisor, WithoutASearchItIsBelady) {
  const TestStep step(kBranches, 6);
  EXPECT_EQ(
      actions_of(step, "swapadvisor", {{"pools", "no"}, {"population", "1"}, {"generations", "0"}}),
      actions_of(step, "belady"));
}

TEST(SwapAdvisor, WithoutReachTheOrderStays) {
  const TestStep step(kBranches, 6);
  EXPECT_EQ(actions_of(step, "swapadvisor", {{"pools", "no"}, {"reach", "0"}}),
            actions_of(step, "belady"));
}

TEST(SwapAdvisor, ALongerSearchIsNeverSlower) {
  std::string text;
  for (int i = 0; i < 12; ++i) text += "storage s" + std::to_string(i) + " 4 activation\n";
  for (int i = 0; i < 12; ++i)
    text += "op f" + std::to_string(i) + " forward : -> s" + std::to_string(i) + "\n";
  for (int i = 0; i < 12; ++i)
    text += "op g" + std::to_string(i) + " backward : s" + std::to_string(i) + " ->\n";
  const TestStep step(text, 16);
  double last = 1e9;
  for (const char* generations : {"0", "5", "40"}) {
    const Plan plan = plan_of(step, "swapadvisor", {{"generations", generations}});
    const double seconds = simulate(step.problem, plan).seconds;
    EXPECT_LE(seconds, last);
    last = seconds;
  }
  EXPECT_LT(last, simulate(step.problem, plan_of(step, "belady")).seconds);
}

TEST(SwapAdvisor, ParentsCanBeDrawnByStepTime) {
  std::string text;
  for (int i = 0; i < 12; ++i) text += "storage s" + std::to_string(i) + " 4 activation\n";
  for (int i = 0; i < 12; ++i) text += "op f forward : -> s" + std::to_string(i) + "\n";
  for (int i = 0; i < 12; ++i) text += "op g backward : s" + std::to_string(i) + " ->\n";
  const TestStep step(text, 16);
  EXPECT_NE(actions_of(step, "swapadvisor", {{"selection", "roulette"}}),
            actions_of(step, "swapadvisor"));
}

TEST(SwapAdvisor, ARefusalNamesABudgetThatWorks) {
  const std::int64_t smallest = smallest_budget_of(TestStep(kBranches, 4), "swapadvisor");
  EXPECT_EQ(smallest, 5);
  plan_of(TestStep(kBranches, smallest), "swapadvisor");
}

}  // namespace
}  // namespace lowtide::policy
