// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "base/median.h"

#include <gtest/gtest.h>

namespace lowtide::base {
namespace {

TEST(Median, IsTheMiddleOfTheValues) {
  EXPECT_EQ(median({}), std::nullopt);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({5, 1, 4}), 4);
  EXPECT_EQ(median({4, 1, 5, 2}), 3);
}

}  // namespace
}  // namespace lowtide::base
