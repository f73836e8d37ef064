// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/bounds.h"

#include <gtest/gtest.h>

#include "plan/fixture_test.h"

namespace lowtide::plan {
namespace {

MemoryBounds bounds_of(const Problem& problem) {
  return memory_bounds(*problem.trace, problem.machine);
}

TEST(MemoryBounds, PlainPeakIsThatOfTheEmptyPlan) {
  const Problem problem = problem_of(kChain);
  const MemoryBounds bounds = bounds_of(problem);
  EXPECT_EQ(bounds.plain_bytes, (std::vector<std::int64_t>{11, 13, 16, 15}));
  EXPECT_EQ(bounds.plain_peak_bytes, 16);
  EXPECT_EQ(bounds.plain_peak_op, OpId{2});
  const Verdict verdict = verdict_of(problem, "");
  EXPECT_EQ(verdict.peak_bytes, bounds.plain_peak_bytes);
  EXPECT_EQ(verdict.peak_op, bounds.plain_peak_op);
}

TEST(MemoryBounds, WorkingSetIsWhatTheHungriestOpTouches) {
  const MemoryBounds bounds = bounds_of(problem_of(kChain));
  EXPECT_EQ(bounds.working_set_bytes, 14);  // a c d
  EXPECT_EQ(bounds.working_set_op, OpId{3});
}

TEST(MemoryBounds, WorkspacePinnedStoragesAndInPlaceWritesCountOnce) {
  const MemoryBounds bounds = bounds_of(problem_of(R"(
storage w 5 parameter start end pinned
storage o 3 state start end
storage a 10 activation end
op f forward workspace=2 : w -> a
op r forward workspace=4 : a -> a
)"));
  EXPECT_EQ(bounds.plain_peak_bytes, 22);   // w o a and 4
  EXPECT_EQ(bounds.working_set_bytes, 19);  // the same without o
  EXPECT_EQ(bounds.working_set_op, OpId{1});
}

TEST(MemoryBounds, PeakMayLieBeforeTheFirstOp) {
  // x goes with the first op, which nobody reads.
  const MemoryBounds bounds = bounds_of(problem_of(R"(
storage x 100 input start
storage d 1 activation end
op f forward : -> d
op g forward : d -> d
)"));
  EXPECT_EQ(bounds.plain_bytes, (std::vector<std::int64_t>{101, 1}));
}

TEST(MemoryBounds, SizesAreRounded) {
  Problem problem = problem_of(kChain);
  problem.machine.allocator.round_bytes = 8;
  EXPECT_EQ(bounds_of(problem).plain_peak_bytes, 40);
}

}  // namespace
}  // namespace lowtide::plan
