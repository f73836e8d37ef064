// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "base/random.h"

#include <array>

#include <gtest/gtest.h>

#include "lowtide/errors.h"

namespace lowtide::base {
namespace {

TEST(Random, GivesTheReferenceSequenceOfSplitMix64) {
  // First outputs of the reference implementation (Vigna, splitmix64.c) from seed 1234567.
  Random random(1234567);
  for (const std::uint64_t expected :
       {6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL,
        4593380528125082431ULL, 16408922859458223821ULL}) {
    EXPECT_EQ(random.next(), expected);
  }
}

TEST(Random, StaysBelowTheBoundAndReachesEveryNumber) {
  Random random(1);
  std::array<int, 7> counts{};
  for (int i = 0; i < 7000; ++i) ++counts.at(random.below(7));
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
  EXPECT_THROW(random.below(0), InternalError);
}

TEST(Random, UniformNumbersLieInTheUnitIntervalAndAverageOneHalf) {
  Random random(2);
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    const double number = random.uniform();
    ASSERT_GE(number, 0);
    ASSERT_LT(number, 1);
    sum += number;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.01);
}

}  // namespace
}  // namespace lowtide::base
