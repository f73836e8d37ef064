// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/clocks.h"

#include <gtest/gtest.h>

namespace lowtide::sim {
namespace {

struct ClocksTest : testing::Test {
  double stalled(StallCause cause) const {
    return timeline.stall_seconds[static_cast<std::size_t>(cause)];
  }
  Links::CopyId fetch(std::int64_t bytes) {
    return links.copy(TierId{0}, Links::Direction::kFromTier, bytes, clocks.issue(0), {});
  }

  Timeline timeline;
  Links links{unit_machine().tiers};
  Clocks clocks{links, timeline};
};

TEST_F(ClocksTest, HostRunsAheadOfTheDevice) {
  clocks.start_work(1);
  clocks.work(10);
  clocks.start_work(1);
  clocks.work(10);
  EXPECT_EQ(clocks.device_seconds(), 21);
  EXPECT_EQ(stalled(StallCause::kHost), 1);
}

TEST_F(ClocksTest, CopyStartsWhenDeviceAndHostHaveBothComeToIt) {
  EXPECT_EQ(clocks.issue(2), 2);
  clocks.start_work(0);
  clocks.work(5);
  EXPECT_EQ(clocks.issue(1), 7);
}

TEST_F(ClocksTest, OnlyWhatTheHostDoesNotExplainIsChargedToTheFetch) {
  clocks.wait_for(fetch(5), ValueId{1});
  clocks.start_work(3);
  EXPECT_EQ(stalled(StallCause::kHost), 3);
  EXPECT_EQ(stalled(StallCause::kFetch), 2);
  EXPECT_EQ(clocks.device_seconds(), 5);
}

TEST_F(ClocksTest, EachOfSeveralFetchesIsChargedWhatItAdds) {
  clocks.begin_tick(OpId{4});
  clocks.wait_for(fetch(5), ValueId{1});
  clocks.wait_for(fetch(2), ValueId{2});
  clocks.settle();
  ASSERT_EQ(timeline.stalls.size(), 2U);
  EXPECT_EQ(timeline.stalls[0].seconds, 5);
  EXPECT_EQ(timeline.stalls[1].value, ValueId{2});
  EXPECT_EQ(timeline.stalls[1].seconds, 2);
  EXPECT_EQ(timeline.stalls[1].op, OpId{4});
}

}  // namespace
}  // namespace lowtide::sim
