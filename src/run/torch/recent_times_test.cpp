// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/recent_times.h"

#include <gtest/gtest.h>

namespace lowtide::run {
namespace {

TEST(RecentTimes, OfWhichThereIsOneHaveItAsTheirTypicalOne) {
  RecentTimes times;
  EXPECT_TRUE(times.empty());
  EXPECT_EQ(times.typical(), 0);
  times.add(3);
  EXPECT_FALSE(times.empty());
  EXPECT_EQ(times.typical(), 3);
}

TEST(RecentTimes, LeaveTheLongestOut) {
  RecentTimes times;
  for (const double seconds : {100.0, 2.0, 4.0}) times.add(seconds);
  EXPECT_EQ(times.typical(), 3);
}

TEST(RecentTimes, ForgetWhatIsLongAgo) {
  RecentTimes times;
  for (int i = 0; i < 20; ++i) times.add(1000);
  for (int i = 0; i < 9; ++i) times.add(i % 2 == 0 ? 2 : 4);
  EXPECT_EQ(times.typical(), 2.75) << "five times 2 and three times 4, in the mean";
}

}  // namespace
}  // namespace lowtide::run
