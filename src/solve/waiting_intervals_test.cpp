// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/waiting_intervals.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace lowtide::solve {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;
using testing::UnorderedElementsAreArray;

TEST(WaitingIntervals, EachIsHandedOutOnce) {
  WaitingIntervals waiting({{0, 1, 5}, {1, 0, 2}, {2, 5, 5}});
  EXPECT_THAT(waiting.take_covering(2), UnorderedElementsAre(0, 1));
  EXPECT_THAT(waiting.take_covering(5), UnorderedElementsAre(2));
  EXPECT_THAT(waiting.take_covering(5), IsEmpty());
}

TEST(WaitingIntervals, NoneGiveNone) {
  EXPECT_THAT(WaitingIntervals({}).take_covering(0), IsEmpty());
}

TEST(WaitingIntervals, FindsWhatASearchThroughAllFinds) {
  base::Random random(3);
  std::vector<WaitingIntervals::Interval> left;
  for (std::int32_t id = 0; id < 500; ++id) {
    const auto first = static_cast<std::int32_t>(random.below(1000));
    left.push_back({id, first, first + static_cast<std::int32_t>(random.below(50))});
  }
  WaitingIntervals waiting(left);
  for (int i = 0; i < 300; ++i) {
    const auto position = static_cast<std::int32_t>(random.below(1050));
    std::vector<std::int32_t> expected;
    std::erase_if(left, [&](const WaitingIntervals::Interval& interval) {
      const bool covers = interval.first <= position && position <= interval.last;
      if (covers) expected.push_back(interval.id);
      return covers;
    });
    ASSERT_THAT(waiting.take_covering(position), UnorderedElementsAreArray(expected));
  }
}

}  // namespace
}  // namespace lowtide::solve
