// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

// w is there throughout, c is the largest of the others. a lies where c will be later, b above
// both, which it meets, and e where b was.
TEST(BestFit, LargeBlocksFirstEachAtItsLowestHole) {
  const TestStep step(R"(
storage w 1 parameter start end
storage a 6 temporary
storage b 5 temporary
storage c 8 temporary
storage e 2 temporary
op f0 forward : w -> a
op f1 forward : a -> b free a
op f2 forward : b -> c free b
op f3 forward : c -> e
)",
                      14);
  EXPECT_EQ(actions_of(step, "best_fit"),
            "place w.0 offset 0\n"
            "place a.0 offset 1\n"
            "place b.0 offset 9\n"
            "place c.0 offset 1\n"
            "place e.0 offset 9\n");
}

TEST(BestFit, ARefusalNamesTheArena) {
  const TestStep step(R"(
storage a 6 temporary
storage b 5 temporary
op f0 forward : -> a
op f1 forward workspace=4 : a -> b
)",
                      10);
  EXPECT_EQ(smallest_budget_of(step, "best_fit"), 15) << "the workspace has its place too";
}

TEST(BestFit, AResultInPlaceStaysWhereItIs) {
  const TestStep step("storage a 6 temporary\nop f forward : -> a\nop g forward : a -> a\n", 6);
  EXPECT_EQ(actions_of(step, "best_fit"), "place a.0 offset 0\nplace a.1 offset 0\n");
}

// d would fit into the hole that b leaves; stacked, it comes to lie above c.
TEST(BestFit, BeyondTheSearchedOnesBlocksAreStacked) {
  const TestStep step(R"(
storage b 5 temporary
storage c 5 temporary
storage d 2 temporary
op f0 forward : -> b
op f1 forward : b -> c free b
op f2 forward : c -> d
)",
                      12);
  EXPECT_EQ(actions_of(step, "best_fit", {{"searched", "2"}}),
            "place b.0 offset 0\nplace c.0 offset 5\nplace d.0 offset 10\n");
  EXPECT_EQ(actions_of(step, "best_fit"),
            "place b.0 offset 0\nplace c.0 offset 5\nplace d.0 offset 0\n");
}

}  // namespace
}  // namespace lowtide::policy
