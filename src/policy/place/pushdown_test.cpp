// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

// a and b come, a goes, and c, which is larger, takes a's chunk, which is widened: b moves up. Only
// then does d come, above b. In the second pass b lies on whichever of a and c is larger.
TEST(Pushdown, AChunkThatIsTooSmallIsWidenedAndWhatLiesAboveMovesUp) {
  const TestStep step(R"(
storage a 2 temporary
storage b 4 temporary
storage c 5 temporary
storage d 1 temporary
op f0 forward : -> a
op f1 forward : a -> b free a
op f2 forward : b -> c
op f3 forward : b c -> d
)",
                      10);
  EXPECT_EQ(actions_of(step, "pushdown"),
            "place a.0 offset 0\n"
            "place b.0 offset 5\n"
            "place c.0 offset 0\n"
            "place d.0 offset 9\n");
}

// e comes when b has gone, into the chunk of b above a. When a goes as well, nothing that is there
// at the same time is below e any more, but a was: it stays above a.
TEST(Pushdown, BlocksAreAsLowAsThoseThatWereBelowThemAllow) {
  const TestStep step(R"(
storage w 3 parameter start end
storage a 4 temporary
storage b 6 temporary
storage e 5 temporary
op f0 forward : w -> a
op f1 forward : a -> b
op f2 forward : a b -> free b
op f3 forward : a -> e free a
op f4 forward : e ->
)",
                      13);
  EXPECT_EQ(actions_of(step, "pushdown"),
            "place w.0 offset 0\n"
            "place a.0 offset 3\n"
            "place b.0 offset 7\n"
            "place e.0 offset 7\n");
}

TEST(Pushdown, ARefusalNamesTheArena) {
  const TestStep step("storage a 6 temporary\nop f forward workspace=3 : -> a\n", 8);
  EXPECT_EQ(smallest_budget_of(step, "pushdown"), 9);
}

}  // namespace
}  // namespace lowtide::policy
