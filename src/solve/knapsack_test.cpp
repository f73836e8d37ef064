// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/knapsack.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/random.h"

namespace lowtide::solve {
namespace {

using Item = Knapsack::Item;

Item sum_of(const std::vector<Item>& items, const std::vector<bool>& chosen) {
  Item sum;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!chosen[i]) continue;
    sum.weight += items[i].weight;
    sum.value += items[i].value;
  }
  return sum;
}

double best_by_trying_all(const std::vector<Item>& items, std::int64_t capacity) {
  double best = 0;
  for (unsigned subset = 0; subset < 1U << items.size(); ++subset) {
    std::vector<bool> chosen;
    for (std::size_t i = 0; i < items.size(); ++i) chosen.push_back((subset >> i & 1U) != 0);
    const Item sum = sum_of(items, chosen);
    if (sum.weight <= capacity) best = std::max(best, sum.value);
  }
  return best;
}

TEST(Knapsack, ThreeThingsOfWhichTwoFit) {
  const Knapsack knapsack({{10, 60}, {20, 100}, {30, 120}}, 60, 60);
  EXPECT_EQ(knapsack.best(50), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(knapsack.best(30), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(knapsack.best(0), (std::vector<bool>{false, false, false}));
}

TEST(Knapsack, WhatWeighsNothingIsAlwaysTaken) {
  const Knapsack knapsack({{0, 0}, {5, 1}, {0, 2}}, 10, 10);
  EXPECT_EQ(knapsack.best(4), (std::vector<bool>{true, false, true}));
}

TEST(Knapsack, IsTheChoiceFoundByTryingAll) {
  base::Random random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<Item> items;
    for (std::uint64_t i = random.below(10); i-- > 0;) {
      items.push_back(
          {static_cast<std::int64_t>(random.below(12)), static_cast<double>(random.below(30))});
    }
    constexpr std::int64_t kLargest = 40;
    const Knapsack knapsack(items, kLargest, 1000);
    for (const std::int64_t capacity : {0, 1, 7, 20, 40}) {
      const Item sum = sum_of(items, knapsack.best(capacity));
      EXPECT_LE(sum.weight, capacity) << round;
      EXPECT_EQ(sum.value, best_by_trying_all(items, capacity)) << round << ' ' << capacity;
    }
  }
}

TEST(Knapsack, WithFewSlotsItIsNeverTooHeavy) {
  base::Random random(4);
  for (int round = 0; round < 200; ++round) {
    std::vector<Item> items;
    std::int64_t total = 0;
    for (int i = 0; i < 30; ++i) {
      items.push_back({static_cast<std::int64_t>(random.below(1'000'000)), random.uniform()});
      total += items.back().weight;
    }
    const Knapsack knapsack(items, total, 64);
    const std::int64_t capacity = total / 3;
    const Item sum = sum_of(items, knapsack.best(capacity));
    EXPECT_LE(sum.weight, capacity);
    EXPECT_GT(sum.value, 0);
  }
}

TEST(FillGreedily, TakesTheMostForEachUnitOfWeightFirst) {
  const std::vector<Item> items{{10, 60}, {20, 100}, {30, 120}, {0, 0}};
  EXPECT_EQ(fill_greedily(items, 50), (std::vector<bool>{true, true, false, true}));
  EXPECT_EQ(fill_greedily(items, 45), (std::vector<bool>{true, true, false, true}));
  // What does not fit is passed over.
  EXPECT_EQ(fill_greedily(items, 5), (std::vector<bool>{false, false, false, true}));
}

}  // namespace
}  // namespace lowtide::solve
