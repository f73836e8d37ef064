// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/largest.h"

#include <algorithm>
#include <limits>
#include <set>

#include <gtest/gtest.h>

namespace lowtide::train {
namespace {

TEST(LargestThatFits, IsFoundFromAnywhere) {
  for (std::int64_t limit = 0; limit <= 40; ++limit) {
    for (std::int64_t most : {1, 2, 7, 32, 33}) {
      for (std::int64_t first : {1, 2, 5, 50}) {
        std::set<std::int64_t> asked;
        const std::int64_t found = largest_that_fits(first, most, [&](std::int64_t n) {
          EXPECT_TRUE(asked.insert(n).second) << n << " was asked for twice";
          EXPECT_TRUE(n >= 1 && n <= most) << n;
          return n <= limit;
        });
        EXPECT_EQ(found, std::min(limit, most)) << "from " << first << " to " << most;
        EXPECT_TRUE(found == 0 || asked.contains(found));
        EXPECT_TRUE(found == most || asked.contains(found + 1));
      }
    }
  }
}

TEST(LargestThatFits, MayBeMissedByAShareOfIt) {
  for (std::int64_t limit = 1; limit <= 500; limit += 7) {
    int questions = 0;
    const auto fits = [&](std::int64_t n) { return ++questions, n <= limit; };
    const std::int64_t found = largest_that_fits(32, 1000, fits, 0.125);
    EXPECT_LE(found, limit);
    EXPECT_LT(static_cast<double>(limit - found),
              std::max(1.0, 0.125 * static_cast<double>(found)));
    EXPECT_LE(questions, 9);
  }
}

TEST(LargestThatFits, TakesFewQuestions) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() - 1;
  int questions = 0;
  const auto fits = [&](std::int64_t n) { return ++questions, n <= 1000; };
  EXPECT_EQ(largest_that_fits(2, kMost, fits), 1000);
  EXPECT_LE(questions, 20);
  EXPECT_EQ(largest_that_fits(2, kMost, [](std::int64_t) { return true; }), kMost);
}

}  // namespace
}  // namespace lowtide::train
