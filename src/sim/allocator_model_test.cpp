// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/allocator_model.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bytes.h"

namespace lowtide::sim {
namespace {

using base::kMiB;
using Handle = AllocatorModel::Handle;

constexpr std::int64_t kNoLimit = std::int64_t{1} << 50;

AllocatorRules expandable() {
  AllocatorRules rules;
  rules.expandable_segments = true;
  return rules;
}

// Blocks of any size from segments of just that size: shows the search apart from the constants.
AllocatorRules exact() {
  return {.round_bytes = 1,
          .small_bytes = 0,
          .small_segment_bytes = 1,
          .large_request_bytes = 0,
          .large_segment_bytes = 1,
          .large_round_bytes = 1,
          .expandable_segments = false};
}

TEST(AllocatorModel, SegmentSizeDependsOnTheRequest) {
  const struct {
    std::int64_t request, segment;
  } rows[] = {{1, 2 * kMiB},          {kMiB, 2 * kMiB},
              {kMiB + 1, 20 * kMiB},  {10 * kMiB - 512, 20 * kMiB},
              {10 * kMiB, 10 * kMiB}, {10 * kMiB + 1, 12 * kMiB},
              {33 * kMiB, 34 * kMiB}};
  for (const auto& row : rows) {
    AllocatorModel model({}, kNoLimit);
    model.malloc(row.request);
    EXPECT_EQ(model.reserved_bytes(), row.segment) << row.request;
  }
}

TEST(AllocatorModel, RequestsAreRoundedAndSmallOnesShareASegment) {
  AllocatorModel model({}, kNoLimit);
  const Handle first = model.malloc(1);
  const Handle second = model.malloc(513);
  EXPECT_EQ(model.range(first).bytes, 512);
  EXPECT_EQ(model.range(second).bytes, 1024);
  EXPECT_EQ(model.range(second).offset_bytes, 512);
  EXPECT_EQ(model.allocated_bytes(), 1536);
  EXPECT_EQ(model.reserved_bytes(), 2 * kMiB);
}

TEST(AllocatorModel, SmallAndLargeRequestsHavePoolsOfTheirOwn) {
  AllocatorModel model({}, kNoLimit);
  model.malloc(2 * kMiB);
  const Handle small = model.malloc(512);
  EXPECT_EQ(model.range(small).segment, 1);
  EXPECT_EQ(model.reserved_bytes(), 22 * kMiB);
}

TEST(AllocatorModel, LargeBlocksKeepARestOfUpToOneMiB) {
  AllocatorModel model({}, kNoLimit);
  EXPECT_EQ(model.range(model.malloc(11 * kMiB)).bytes, 12 * kMiB);  // 1 MiB too much, kept
  AllocatorModel other({}, kNoLimit);
  other.malloc(9 * kMiB);
  EXPECT_EQ(other.range(other.malloc(9 * kMiB)).bytes, 9 * kMiB);  // 2 MiB left over, split off
  EXPECT_EQ(other.range(other.malloc(2 * kMiB)).segment, 0);
  EXPECT_EQ(other.reserved_bytes(), 20 * kMiB);
}

TEST(AllocatorModel, BestFitTakesTheSmallestBlockAndTheLowestAmongEquals) {
  AllocatorModel model(exact(), kNoLimit);
  std::vector<Handle> blocks;
  for (const std::int64_t bytes : {5, 3, 7, 3}) blocks.push_back(model.malloc(bytes));
  for (const Handle block : blocks) model.free(block);
  EXPECT_EQ(model.range(model.malloc(3)).segment, 1);
  EXPECT_EQ(model.range(model.malloc(2)).segment, 3);
  EXPECT_EQ(model.range(model.malloc(4)).segment, 0);
  EXPECT_EQ(model.reserved_bytes(), 18);
}

TEST(AllocatorModel, FreeNeighboursMergeOnBothSides) {
  AllocatorModel model({}, kNoLimit);
  const Handle a = model.malloc(512 * 1024);
  const Handle b = model.malloc(512 * 1024);
  const Handle c = model.malloc(512 * 1024);
  model.malloc(512 * 1024);
  model.free(a);
  model.free(c);
  EXPECT_EQ(model.range(model.malloc(kMiB)).segment, 1);  // the holes do not touch
  model.malloc(kMiB);                                     // the rest of the new segment
  model.free(b);
  EXPECT_EQ(model.range(model.malloc(kMiB)).segment, 0);
}

TEST(AllocatorModel, OverTheLimitWhollyFreeSegmentsAreGivenBackFirst) {
  AllocatorModel model({}, 40 * kMiB);
  const Handle large = model.malloc(24 * kMiB);
  const Handle kept = model.malloc(512);
  model.free(large);
  model.malloc(30 * kMiB);
  EXPECT_EQ(model.reserved_bytes(), 32 * kMiB);
  EXPECT_EQ(model.reserved_peak_bytes(), 32 * kMiB);
  EXPECT_EQ(model.failures(), 0);
  model.free(kept);
}

TEST(AllocatorModel, SplitSegmentsStayAndTheRequestIsCountedAsAFailure) {
  AllocatorModel model({}, 40 * kMiB);
  const Handle first = model.malloc(9 * kMiB);
  model.malloc(9 * kMiB);
  model.free(first);  // 11 MiB of the segment are free, in two pieces
  model.malloc(20 * kMiB);
  EXPECT_EQ(model.failures(), 0);
  EXPECT_EQ(model.reserved_bytes(), 40 * kMiB);
  model.malloc(10 * kMiB);
  EXPECT_EQ(model.failures(), 1);
  EXPECT_EQ(model.reserved_bytes(), 50 * kMiB);
}

TEST(AllocatorModel, NothingIsTakenForNoBytes) {
  AllocatorModel model({}, kNoLimit);
  const Handle nothing = model.malloc(0);
  EXPECT_EQ(model.reserved_bytes(), 0);
  model.free(nothing);
}

TEST(AllocatorModel, ExpandableSegmentGrowsByPagesAndUsesItsTail) {
  AllocatorModel model(expandable(), kNoLimit);
  model.malloc(15 * kMiB);
  EXPECT_EQ(model.reserved_bytes(), 20 * kMiB);
  const Handle second = model.malloc(15 * kMiB);  // 5 MiB of the first page, 10 of the next
  EXPECT_EQ(model.range(second).offset_bytes, 15 * kMiB);
  EXPECT_EQ(model.reserved_bytes(), 40 * kMiB);
  model.malloc(512);
  EXPECT_EQ(model.reserved_bytes(), 42 * kMiB);
}

TEST(AllocatorModel, ExpandableSegmentPrefersHolesToItsGrowingEnd) {
  AllocatorModel model(expandable(), kNoLimit);
  const Handle first = model.malloc(16 * kMiB);
  model.malloc(16 * kMiB);  // 8 MiB of tail
  model.free(first);
  EXPECT_EQ(model.range(model.malloc(8 * kMiB)).offset_bytes, 0);
}

TEST(AllocatorModel, ExpandableSegmentGivesBackWholeFreePagesAndMapsThemAgain) {
  AllocatorModel model(expandable(), 100 * kMiB);
  const Handle first = model.malloc(50 * kMiB);
  const Handle second = model.malloc(30 * kMiB);
  EXPECT_EQ(model.reserved_bytes(), 80 * kMiB);
  model.free(first);
  // Pages 0 and 1 are free, page 2 in part.
  model.malloc(60 * kMiB);
  EXPECT_EQ(model.failures(), 0);
  EXPECT_EQ(model.reserved_bytes(), 100 * kMiB);
  model.free(second);
  const Handle third =
      model.malloc(55 * kMiB);  // over the limit: the tail's pages go, a hole is mapped
  EXPECT_EQ(model.range(third).offset_bytes, 0);
}

using Requests = std::vector<std::pair<std::uint32_t, std::uint8_t>>;

// Frees a block for every third number, else asks for one.
void check_books(const AllocatorRules& rules, std::int64_t limit_bytes, const Requests& requests) {
  AllocatorModel model(rules, limit_bytes);
  std::vector<Handle> live;
  for (const auto& [bytes, choice] : requests) {
    if (choice % 3 == 0 && !live.empty()) {
      const std::size_t victim = choice % live.size();
      model.free(live[victim]);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
    } else {
      live.push_back(model.malloc(1 + bytes % (choice % 2 == 0 ? 40 * kMiB : kMiB)));
    }
    RC_ASSERT(model.allocated_bytes() <= model.reserved_bytes());
    RC_ASSERT(model.reserved_bytes() <= model.reserved_peak_bytes());
    std::int64_t sum = 0;
    for (const Handle a : live) {
      const AllocatorModel::Range one = model.range(a);
      sum += one.bytes;
      for (const Handle b : live) {
        const AllocatorModel::Range two = model.range(b);
        const bool overlap = one.segment == two.segment &&
                             one.offset_bytes < two.offset_bytes + two.bytes &&
                             two.offset_bytes < one.offset_bytes + one.bytes;
        RC_ASSERT(a == b || !overlap);
      }
    }
    RC_ASSERT(sum == model.allocated_bytes());
  }
  for (const Handle handle : live) model.free(handle);
  RC_ASSERT(model.allocated_bytes() == 0);
  // All is free again: whatever fits the limit at all can be had.
  const std::int64_t failures = model.failures();
  model.malloc(std::min(limit_bytes / 2, 64 * kMiB));
  RC_ASSERT(model.failures() == failures);
}

RC_GTEST_PROP(AllocatorModel, LiveBlocksNeverOverlapAndAllComesBack, (const Requests& requests)) {
  check_books({}, kNoLimit, requests);
  check_books({}, 100 * kMiB, requests);
}

RC_GTEST_PROP(AllocatorModel, ExpandableBlocksNeverOverlapAndAllComesBack,
              (const Requests& requests)) {
  check_books(expandable(), kNoLimit, requests);
  check_books(expandable(), 200 * kMiB, requests);
}

}  // namespace
}  // namespace lowtide::sim
