// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "lowtide/simulate.h"

namespace lowtide {
namespace {

TEST(Timeline, SumsAreOverKindsAndCauses) {
  TickUse tick;
  tick.bytes = {1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(tick.total_bytes(), 28);
  Timeline timeline;
  timeline.stall_seconds = {1, 2, 0.5, 4, 8};
  EXPECT_EQ(timeline.total_stall_seconds(), 15.5);
}

TEST(Timeline, CausesHaveNames) {
  EXPECT_EQ(to_string(StallCause::kFetch), "fetch");
  EXPECT_EQ(to_string(StallCause::kRoom), "room");
  EXPECT_EQ(to_string(StallCause::kHost), "host");
  EXPECT_EQ(to_string(StallCause::kDrain), "drain");
  EXPECT_EQ(to_string(StallCause::kCopy), "copy");
}

}  // namespace
}  // namespace lowtide
