// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/order_variation.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

namespace lowtide::solve {
namespace {

using Order = std::vector<std::int32_t>;

TEST(OrderVariation, AChildBeginsAsOneParentAndGoesOnAsTheOther) {
  const Order a{0, 1, 2, 3, 4};
  const Order b{4, 2, 0, 3, 1};
  EXPECT_EQ(cross_orders(a, b, 0), b);
  EXPECT_EQ(cross_orders(a, b, 2), (Order{0, 1, 4, 2, 3}));
  EXPECT_EQ(cross_orders(a, b, 5), a);
}

TEST(OrderVariation, MovesReachEveryOrderThatThePrecedencesAllowAndNoOther) {
  // 0 before 1, and 2 before 3: 4! / 4 orders.
  const OrderVariation variation(4, {{0, 1}, {2, 3}, {2, 3}});
  base::Random random(1);
  Order order{0, 1, 2, 3};
  std::set<Order> seen;
  for (int i = 0; i < 1000; ++i) {
    variation.move_one(order, 4, random);
    seen.insert(order);
  }
  EXPECT_EQ(seen.size(), 6U);
  for (const Order& each : seen) {
    const auto place = [&](std::int32_t number) {
      return std::find(each.begin(), each.end(), number) - each.begin();
    };
    EXPECT_LT(place(0), place(1));
    EXPECT_LT(place(2), place(3));
  }
}

TEST(OrderVariation, AMoveGoesNoFurtherThanItsReach) {
  const OrderVariation variation(20, {});
  base::Random random(1);
  Order plain(20);
  std::iota(plain.begin(), plain.end(), 0);
  for (int i = 0; i < 200; ++i) {
    Order order = plain;
    variation.move_one(order, 3, random);
    EXPECT_NE(order, plain);
    std::int32_t furthest = 0;
    for (std::int32_t place = 0; place < 20; ++place) {
      furthest = std::max(furthest, std::abs(order[static_cast<std::size_t>(place)] - place));
    }
    EXPECT_LE(furthest, 3);
  }
}

TEST(OrderVariation, WhatCannotMoveStays) {
  const OrderVariation variation(3, {{0, 1}, {1, 2}});
  base::Random random(1);
  Order order{0, 1, 2};
  for (int i = 0; i < 20; ++i) variation.move_one(order, 3, random);
  EXPECT_EQ(order, (Order{0, 1, 2}));
  Order none;
  OrderVariation(0, {}).move_one(none, 3, random);
  EXPECT_TRUE(none.empty());
}

}  // namespace
}  // namespace lowtide::solve
