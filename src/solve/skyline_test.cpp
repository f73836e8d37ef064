// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/skyline.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/random.h"

namespace lowtide::solve {
namespace {

TEST(Skyline, KeepsTheHeightsThatARowOfNumbersKeeps) {
  base::Random random(5);
  for (int round = 0; round < 50; ++round) {
    const std::size_t size = 1 + random.below(40);
    Skyline skyline(size);
    std::vector<std::int64_t> heights(size, 0);
    for (int call = 0; call < 100; ++call) {
      std::size_t first = random.below(size);
      std::size_t last = random.below(size);
      if (first > last) std::swap(first, last);
      const auto begin = heights.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = heights.begin() + static_cast<std::ptrdiff_t>(last) + 1;
      ASSERT_EQ(skyline.highest(first, last), *std::max_element(begin, end)) << round;
      const auto height = static_cast<std::int64_t>(random.below(50));
      skyline.raise(first, last, height);
      for (auto at = begin; at != end; ++at) *at = std::max(*at, height);
    }
  }
}

}  // namespace
}  // namespace lowtide::solve
