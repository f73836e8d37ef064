// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/fastest.h"

#include <cmath>

#include <gtest/gtest.h>

namespace lowtide::train {
namespace {

using Rates = std::map<std::int64_t, double>;

TEST(Fastest, HasTheNeighboursThatWereTried) {
  const Rates rates = {{2, 10}, {4, 30}, {8, 20}};
  const Fastest found = fastest_of(rates);
  EXPECT_EQ(found.number, 4);
  EXPECT_EQ(found.below, 2);
  EXPECT_EQ(found.above, 8);
  EXPECT_EQ(fastest_of({{2, 10}, {4, 5}}).below, 0);
  EXPECT_EQ(fastest_of({{2, 10}, {4, 50}}).above, 0);
}

TEST(Fastest, IsLookedForInTheWiderGap) {
  EXPECT_EQ(next_near_fastest({{64, 1}, {128, 3}, {256, 2}}), 192);
  EXPECT_EQ(next_near_fastest({{64, 1}, {128, 3}, {144, 2}}), 96);
  EXPECT_EQ(next_near_fastest({{64, 1}, {128, 3}}), 96);
  EXPECT_EQ(next_near_fastest({{2, 3}, {4, 1}}), 3);
}

TEST(Fastest, IsNotLookedForBesideNarrowGaps) {
  EXPECT_EQ(next_near_fastest({{112, 1}, {128, 3}, {144, 2}}), std::nullopt);
  EXPECT_EQ(next_near_fastest({{2, 1}, {3, 3}, {4, 2}}), std::nullopt);
  EXPECT_EQ(next_near_fastest({{7, 1}}), std::nullopt);
}

TEST(Fastest, OfOneHillIsFoundWithinAnEighth) {
  for (const std::int64_t top : {3, 37, 100, 321, 500}) {
    const auto rate = [top](std::int64_t number) {
      return 1 / (1 + std::abs(std::log(static_cast<double>(number) / static_cast<double>(top))));
    };
    Rates rates;
    for (std::int64_t number = 2; number <= 512; number *= 2) rates[number] = rate(number);
    int tries = 0;
    while (const auto next = next_near_fastest(rates)) {
      rates[*next] = rate(*next);
      ++tries;
    }
    const auto found = static_cast<double>(fastest_of(rates).number);
    EXPECT_NEAR(found, static_cast<double>(top), std::max(found / 8, 1.0)) << top;
    EXPECT_LE(tries, 8) << top;
  }
}

}  // namespace
}  // namespace lowtide::train
