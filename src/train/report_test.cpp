// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/report.h"

#include <gtest/gtest.h>

namespace lowtide::train {
namespace {

TEST(Median, IsTheMiddleOrBetweenTheTwoMiddles) {
  EXPECT_EQ(median({}), std::nullopt);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({5, 1, 4}), 4);
  EXPECT_EQ(median({4, 1, 5, 2}), 3);
}

}  // namespace
}  // namespace lowtide::train
