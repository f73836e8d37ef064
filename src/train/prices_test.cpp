// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/prices.h"

#include <limits>

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace lowtide::train {
namespace {

using base::kGiB;

CurvePoint point_at(std::int64_t gib, std::vector<double> ratios) {
  return {.budget_bytes = gib * kGiB, .ratios = std::move(ratios)};
}

CurvePoint refused_at(std::int64_t gib) {
  return {.budget_bytes = gib * kGiB, .refusal = "too little"};
}

// Plain takes 10 GiB and 2 s a step.
PriceCurve curve_with(std::vector<CurvePoint> points) {
  return {.plain_peak_bytes = 10 * kGiB, .plain_seconds = {1, 2, 3}, .points = std::move(points)};
}

TEST(Prices, SpreadIsFromTheLeastToTheMostAroundTheMedian) {
  const Spread spread = spread_of({3, 1, 2, 9});
  EXPECT_EQ(spread.middle, 2.5);
  EXPECT_EQ(spread.least, 1);
  EXPECT_EQ(spread.most, 9);
}

TEST(Prices, AreWhatAStepGetsQuickerOnTheWayToTheNextLargerBudget) {
  const auto prices =
      memory_prices(curve_with({point_at(8, {1.2, 1.2, 1.2}), point_at(6, {1.6, 1.5, 1.7}),
                                refused_at(5), point_at(4, {2.6, 1.65, 3})}));
  ASSERT_EQ(prices.size(), 4U);
  // From plain: 2 GiB less cost a fifth of 2 s.
  EXPECT_NEAR(prices[0]->seconds_per_gib, 0.2, 1e-12);
  EXPECT_NEAR(prices[0]->share_per_gib, 0.1, 1e-12);
  EXPECT_TRUE(prices[0]->is_certain);
  EXPECT_NEAR(prices[1]->seconds_per_gib, 0.4, 1e-12);
  EXPECT_TRUE(prices[1]->is_certain);
  EXPECT_FALSE(prices[2]);
  // What was refused is passed over; the spreads overlap between 1.65 and 1.7.
  EXPECT_NEAR(prices[3]->seconds_per_gib, 1, 1e-12);
  EXPECT_FALSE(prices[3]->is_certain);
}

TEST(Prices, HaveNothingToSayWithoutALargerBudget) {
  const auto prices =
      memory_prices(curve_with({point_at(12, {1}), point_at(10, {1.1}), point_at(10, {1.2})}));
  EXPECT_FALSE(prices[0]);
  EXPECT_NEAR(prices[1]->share_per_gib, 0.05, 1e-12);
  EXPECT_FALSE(prices[2]);
  EXPECT_FALSE(memory_prices(curve_with({point_at(10, {1.1})}))[0]);
}

TEST(Losses, DifferByTheirBits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(first_differing_loss({2.5, nan, 1}, {2.5, nan, 1}));
  const auto difference = first_differing_loss({2.5, 0.0, 1}, {2.5, -0.0, 7});
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->step, 2);
  EXPECT_EQ(first_differing_loss({1, 2}, {1, 3})->got, 3);
}

}  // namespace
}  // namespace lowtide::train
