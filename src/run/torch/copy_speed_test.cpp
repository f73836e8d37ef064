// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/copy_speed.h"

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace lowtide::run {
namespace {

TEST(CopySpeed, IsThatOfTheCopiesThatWereMade) {
  std::vector<char> from(std::size_t{1} << 20, 'a');
  std::vector<char> to(from.size());
  const auto bytes = static_cast<std::int64_t>(from.size());
  CopySpeed speed;
  const double usual = speed.seconds(bytes);
  EXPECT_GT(usual, 0);
  for (int i = 0; i < 3; ++i) speed.copy(to.data(), from.data(), bytes);
  EXPECT_EQ(to, from);
  EXPECT_NE(speed.seconds(bytes), usual);
  EXPECT_GT(speed.seconds(2 * bytes), speed.seconds(bytes));
}

TEST(CopySpeed, DoesNotFollowSmallCopies) {
  std::vector<char> from(1000, 'a');
  std::vector<char> to(from.size());
  CopySpeed speed;
  const double usual = speed.seconds(1 << 20);
  speed.copy(to.data(), from.data(), 1000);
  EXPECT_EQ(to, from);
  EXPECT_EQ(speed.seconds(1 << 20), usual);
}

}  // namespace
}  // namespace lowtide::run
