// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/page_emptier.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "run/engine/test_row.h"

namespace lowtide::engine {
namespace {

constexpr std::int64_t kUnits = 4;

std::int64_t whole_pages(const TestRow& row) {
  std::int64_t pages = 0;
  for (std::size_t first = 0; first + kUnits <= row.size(); first += kUnits) {
    const auto begin = row.begin() + static_cast<std::ptrdiff_t>(first);
    pages += std::all_of(begin, begin + kUnits, [](std::intptr_t unit) { return unit == 0; });
  }
  return pages;
}

MovedRow empty(const TestRow& row, std::int64_t pages,
               const std::function<bool(void*)>& may_move = any_block) {
  return move_in_row(row, may_move, [&](const auto& free, const auto& blocks) {
    return empty_pages(pages, kUnits, free, blocks, may_move);
  });
}

TEST(PageEmptier, BlocksGoToPagesThatAreInUseAnyway) {
  const MovedRow moved = empty({1, 0, 0, 0, 2, 2, 0, 0, 0, 0, 0, 0}, 1);
  ASSERT_EQ(moved.moves.size(), 1);
  EXPECT_EQ(moved.moves.front().data, row_block(1));
  EXPECT_EQ(whole_pages(moved.row), 2);
}

TEST(PageEmptier, SaysSoWhenThereIsNoWay) {
  // Both would have to go to the other's page.
  EXPECT_TRUE(empty({1, 1, 1, 0, 2, 2, 2, 0}, 1).moves.empty());
  EXPECT_TRUE(empty({1, 0, 0, 0, 2, 2, 0, 0}, 2).moves.empty());
  EXPECT_TRUE(empty({1, 0, 0, 0, 2, 2, 0, 0}, 1, [](void*) { return false; }).moves.empty());
  EXPECT_TRUE(empty({1, 0, 0, 0, 2, 2, 0, 0}, 0).moves.empty());
}

TEST(PageEmptier, ABlockInTwoPagesIsMovedOnce) {
  const MovedRow moved = empty({0, 0, 0, 1, 1, 0, 0, 0, 2, 0, 0, 3}, 2);
  ASSERT_EQ(moved.moves.size(), 1);
  EXPECT_EQ(whole_pages(moved.row), 2);
}

TEST(PageEmptier, PagesAreEmptyWhateverLiesAbout) {
  base::Random random(5);
  int emptied = 0;
  for (int round = 0; round < 2000; ++round) {
    TestRow row = random_row(random, 120);
    // Pages are there or not as a whole.
    std::replace(row.begin(), row.end(), std::intptr_t{-1}, std::intptr_t{0});
    const auto pages = static_cast<std::int64_t>(1 + random.below(4));
    const auto may_move = [](void* data) {
      return reinterpret_cast<std::uintptr_t>(data) % 7 != 0;
    };
    const MovedRow moved = empty(row, pages, may_move);
    if (moved.moves.empty()) continue;
    ++emptied;
    ASSERT_GE(whole_pages(moved.row), whole_pages(row) + pages);
  }
  EXPECT_GT(emptied, 300);
}

}  // namespace
}  // namespace lowtide::engine
