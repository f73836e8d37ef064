// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/address_arena.h"

#include <limits>

#include <gtest/gtest.h>

#include "base/random.h"

namespace lowtide::sim {
namespace {

using End = AddressArena::End;

ValueId value(int index) { return ValueId{index}; }

TEST(AddressArena, TakesTheSmallestHoleThatIsLongEnough) {
  AddressArena arena(6, 100);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(arena.place_best(value(i), 20));
  arena.release(value(0));
  arena.release(value(1));
  arena.release(value(3));
  ASSERT_TRUE(arena.place_best(value(5), 15));
  EXPECT_EQ(arena.offset(value(5)), 60);
}

TEST(AddressArena, EachEndHasItsOwnValues) {
  AddressArena arena(4, 100);
  ASSERT_TRUE(arena.place_from(End::kLow, value(0), 10));
  ASSERT_TRUE(arena.place_from(End::kHigh, value(1), 10));
  ASSERT_TRUE(arena.place_from(End::kLow, value(2), 10));
  EXPECT_EQ(arena.offset(value(0)), 0);
  EXPECT_EQ(arena.offset(value(1)), 90);
  EXPECT_EQ(arena.offset(value(2)), 10);
  EXPECT_FALSE(arena.place_from(End::kHigh, value(3), 71));
  EXPECT_FALSE(arena.has_address(value(3)));
}

TEST(AddressArena, FreeNeighboursJoin) {
  AddressArena arena(5, 40);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(arena.place_best(value(i), 10));
  arena.release(value(0));
  arena.release(value(2));
  EXPECT_EQ(arena.free_beside(value(1)), 20);
  EXPECT_EQ(arena.free_beside(value(3)), 10);
  arena.release(value(1));
  EXPECT_EQ(arena.free_beside(value(3)), 30);
  EXPECT_TRUE(arena.place_best(value(4), 30));
}

TEST(AddressArena, AResultInPlaceLiesWhereItsInputLay) {
  AddressArena arena(3, 20);
  ASSERT_TRUE(arena.place_best(value(0), 10));
  arena.hand_over(value(0), value(1));
  EXPECT_EQ(arena.offset(value(1)), 0);
  EXPECT_FALSE(arena.has_address(value(0)));
  arena.release(value(1));
  EXPECT_TRUE(arena.place_best(value(2), 20));
}

TEST(AddressArena, ScratchIsInTheWayUntilItEnds) {
  AddressArena arena(1, 20);
  ASSERT_TRUE(arena.place_scratch(15));
  EXPECT_FALSE(arena.place_best(value(0), 10));
  EXPECT_EQ(arena.cheapest_row(10, 100, [](ValueId) { return 1.0; }), std::nullopt);
  arena.end_scratch();
  EXPECT_TRUE(arena.place_best(value(0), 10));
}

// Every row of neighbours that holds nobody who must stay.
double cheapest_by_trying_all(const std::vector<std::optional<double>>& prices,
                              const std::vector<std::int64_t>& bytes, std::int64_t needed) {
  double cheapest = std::numeric_limits<double>::infinity();
  for (std::size_t first = 0; first < bytes.size(); ++first) {
    std::int64_t row_bytes = 0;
    double price = 0;
    for (std::size_t last = first; last < bytes.size() && prices[last]; ++last) {
      row_bytes += bytes[last];
      price += *prices[last];
      if (row_bytes >= needed) cheapest = std::min(cheapest, price);
    }
  }
  return cheapest;
}

TEST(AddressArena, TheCheapestRowIsTheOneFoundByTryingAll) {
  base::Random random(7);
  int found = 0;
  for (int round = 0; round < 500; ++round) {
    const int count = 1 + static_cast<int>(random.below(12));
    std::vector<std::int64_t> bytes;
    std::vector<std::optional<double>> prices;
    std::int64_t total = 0;
    for (int i = 0; i < count; ++i) {
      bytes.push_back(1 + static_cast<std::int64_t>(random.below(9)));
      prices.emplace_back(static_cast<double>(1 + random.below(20)));
      if (random.below(5) == 0) prices.back() = std::nullopt;
      total += bytes.back();
    }
    AddressArena arena(static_cast<std::size_t>(count), total);
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(arena.place_from(End::kLow, value(i), bytes[static_cast<std::size_t>(i)]));
    }
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (random.below(4) != 0) continue;
      arena.release(value(static_cast<int>(i)));
      prices[i] = 0;
    }
    const auto needed = 1 + static_cast<std::int64_t>(random.below(20));
    const auto row = arena.cheapest_row(needed, 100, [&](ValueId v) { return prices[v.slot()]; });
    const double expected = cheapest_by_trying_all(prices, bytes, needed);
    ASSERT_EQ(row.has_value(), expected < std::numeric_limits<double>::infinity()) << round;
    if (!row) continue;
    ++found;
    double price = 0;
    for (const ValueId v : *row) price += *prices[v.slot()];
    EXPECT_NEAR(price, expected, 1e-9) << round;
    for (const ValueId v : *row) arena.release(v);
    EXPECT_TRUE(arena.place_scratch(needed)) << round;
  }
  EXPECT_GT(found, 200);
}

TEST(AddressArena, ABoundedSearchGoesOnWhereTheLastOneEnded) {
  AddressArena arena(4, 40);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(arena.place_from(End::kLow, value(i), 10));
  const auto row = [&] {
    return *arena.cheapest_row(10, 2, [](ValueId v) { return 10.0 - v.index; });
  };
  EXPECT_EQ(row(), std::vector<ValueId>{value(1)});
  EXPECT_EQ(row(), std::vector<ValueId>{value(3)});
  EXPECT_EQ(row(), std::vector<ValueId>{value(1)});
}

}  // namespace
}  // namespace lowtide::sim
