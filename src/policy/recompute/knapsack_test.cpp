// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "lowtide/simulate.h"
#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

// Two layers of a product and an activation function. The plain step takes 43 bytes in op 5.
constexpr std::string_view kTwoLayers = R"(
storage w 1 parameter start end
storage a 10 activation
storage b 10 activation
storage c 10 activation
storage d 10 activation
storage l 1 activation
storage g 1 gradient end
op mm forward device=20 : w -> a
op gelu forward : a -> b
op mm forward device=5 : b w -> c
op gelu forward : c -> d
op loss forward : d -> l
op loss_backward backward : d l -> g
op gelu_backward backward : c g -> g
op mm_backward backward : b g -> g
op gelu_backward backward : a g -> g
)";

TEST(Knapsack, KeepsProductsAndReplaysPassesOverMemory) {
  EXPECT_EQ(actions_of(TestStep(kTwoLayers, 43), "knapsack"), "") << "the plain step fits";
  EXPECT_EQ(actions_of(TestStep(kTwoLayers, 33), "knapsack"),
            "drop b.0 after 2\n"
            "drop d.0 after 4\n"
            "run 3 before 5\n"
            "run 1 before 7\n");
}

// One of the products has to be repeated, and c takes less time. For each reader it is made anew:
// there is no room for all of b, c and d. By
// then the loss is no longer banned either, which is a reduction.
TEST(Knapsack, OfTwoProductsTheLongerOneIsKept) {
  const TestStep step(kTwoLayers, 32);
  EXPECT_EQ(actions_of(step, "knapsack"),
            "drop b.0 after 2\n"
            "drop c.0 after 3\n"
            "drop d.0 after 4\n"
            "drop l.0 after 4\n"
            "run 1 before 5\n"
            "run 2 before 5\n"
            "drop b.0 before 5\n"
            "run 3 before 5\n"
            "drop c.0 before 5\n"
            "run 4 before 5\n"
            "run 1 before 6\n"
            "run 2 before 6\n"
            "drop b.0 before 6\n"
            "run 1 before 7\n");
  const Plan with_none_kept = plan_of(step, "knapsack", {{"shares", "1"}});
  EXPECT_NE(step.actions(with_none_kept).find("drop a.0"), std::string::npos);
  EXPECT_GT(simulate(step.problem, with_none_kept).recompute_seconds,
            simulate(step.problem, plan_of(step, "knapsack")).recompute_seconds);
}

// t is not wanted by the backward pass itself. It is a quarter of a and b, which can be made of it.
TEST(Knapsack, AValueTheProgramLetsGoOfIsHeldIfThatIsTheSmallestCut) {
  const TestStep step(R"(
storage w 1 parameter start end
storage t 4 temporary
storage a 16 activation
storage b 16 activation
storage z 40 temporary
storage g 1 gradient end
op mm forward device=20 : w -> t
op expand forward : t -> a
op relu forward : a -> b free t
op mm forward : w -> z
op loss_backward backward : b w -> g
op relu_backward backward : a g -> g
)",
                      46);
  EXPECT_EQ(actions_of(step, "knapsack"),
            "hold t.0 from 2 until 5\n"
            "drop a.0 after 2\n"
            "drop b.0 after 2\n"
            "run 1 before 4\n"
            "run 2 before 4\n");
}

// a, which goes around a product, could be made of p as well: that would be as much to keep.
TEST(Knapsack, WhatIsUsedFarApartIsKept) {
  const TestStep step(R"(
storage w 1 parameter start end
storage p 10 temporary
storage a 10 activation
storage q 10 temporary
storage s 10 activation
storage u 10 activation
storage z 30 temporary
storage g 1 gradient end
op mm forward : w -> p
op relu forward : p -> a free p
op mm forward : a w -> q
op add forward : a q -> s free q
op gelu forward : s -> u
op mm forward : w -> z
op loss_backward backward : u -> g
op gelu_backward backward : s g -> g
op relu_backward backward : a g -> g
)",
                      51);
  EXPECT_EQ(actions_of(step, "knapsack"), "drop u.0 after 4\nrun 4 before 6\n");
}

// Of 10, 20 and 30 bytes that take 60, 100 and 120 seconds, 50 bytes can stay.
TEST(Knapsack, TheSolverCanBeGreedy) {
  constexpr std::string_view kThree = R"(
storage w 1 parameter start end
storage g 1 gradient end
storage a 10 activation
storage b 20 activation
storage c 30 activation
op mm forward device=60 : w -> a
op mm forward device=100 : w -> b
op mm forward device=120 : w -> c
op loss backward : w -> g
op mm_backward backward : c g -> g
op mm_backward backward : b g -> g
op mm_backward backward : a g -> g
)";
  const TestStep step(kThree, 55);
  EXPECT_EQ(actions_of(step, "knapsack"), "drop a.0 after 0\nrun 0 before 6\n");
  EXPECT_EQ(actions_of(step, "knapsack", {{"solver", "greedy"}}),
            "drop b.0 after 1\ndrop c.0 after 2\nrun 2 before 4\nrun 1 before 5\n");
}

// s reads six times what it writes. As a reduction it is banned while there is another way.
TEST(Knapsack, WhatIsAReductionIsAnOption) {
  constexpr std::string_view kSum = R"(
storage w 1 parameter start end
storage x 60 input start end
storage s 10 activation
storage b 10 activation
storage z 20 temporary
storage g 1 gradient end
op sum forward : x -> s
op mish forward : w -> b
op mm forward : w -> z
op loss_backward backward : w -> g
op mish_backward backward : b g -> g
op sum_backward backward : s g -> g
)";
  const TestStep step(kSum, 91);
  EXPECT_EQ(actions_of(step, "knapsack"), "drop b.0 after 1\nrun 1 before 4\n");
  EXPECT_EQ(actions_of(step, "knapsack", {{"reduction", "6"}}),
            "drop s.0 after 0\ndrop b.0 after 1\nrun 1 before 4\nrun 0 before 5\n");
}

TEST(Knapsack, ARefusalNamesWhatRepeatingAllTakes) {
  const TestStep step(kTwoLayers, 15);
  const std::int64_t smallest = smallest_budget_of(step, "knapsack");
  ASSERT_GT(smallest, 15);
  plan_of(TestStep(kTwoLayers, smallest), "knapsack");
}

}  // namespace
}  // namespace lowtide::policy
