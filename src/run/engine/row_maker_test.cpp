// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/row_maker.h"

#include <gtest/gtest.h>

#include "run/engine/test_row.h"

namespace lowtide::engine {
namespace {

std::int64_t longest_free(const TestRow& row) {
  std::int64_t longest = 0;
  for (const UnitRun& run : runs_of(row, 0)) longest = std::max(longest, run.count);
  return longest;
}

MovedRow make(const TestRow& row, std::int64_t units,
              const std::function<bool(void*)>& may_move = any_block) {
  return move_in_row(row, may_move, [&](const auto& free, const auto& blocks) {
    return make_row(units, free, blocks, may_move);
  });
}

TEST(RowMaker, MovesTheLeastThatIsInTheWay) {
  // Two free, a block of two, two free, a block of one, two free.
  const MovedRow made = make({0, 0, 1, 1, 0, 0, 2, 0, 0}, 4);
  ASSERT_EQ(made.moves.size(), 1);
  EXPECT_EQ(made.moves.front().data, row_block(2));
  EXPECT_GE(longest_free(made.row), 4);
}

TEST(RowMaker, ABlockInPiecesGoesToOnePlace) {
  const MovedRow made = make({1, 0, 0, 1, 0, 2, 0, 0}, 3);
  ASSERT_FALSE(made.moves.empty());
  EXPECT_GE(longest_free(made.row), 3);
}

TEST(RowMaker, LeavesAloneWhatMustStay) {
  const auto not_two = [](void* data) { return data != row_block(2); };
  const MovedRow made = make({0, 0, 1, 0, 0, 2, 0, 0, 0}, 4, not_two);
  ASSERT_EQ(made.moves.size(), 1);
  EXPECT_EQ(made.moves.front().data, row_block(1));
  EXPECT_TRUE(make({0, 2, 0}, 2, not_two).moves.empty());
}

TEST(RowMaker, MakesNoRowOverWhatIsNotThere) {
  EXPECT_TRUE(make({0, 0, -1, 0, 0}, 3).moves.empty());
  EXPECT_TRUE(make({}, 1).moves.empty());
}

TEST(RowMaker, SaysSoWhenThereIsNoOtherPlace) {
  EXPECT_TRUE(make({0, 1, 1, 1, 0}, 2).moves.empty());
}

TEST(RowMaker, RowsAreFreeWhateverLiesAbout) {
  base::Random random(3);
  int made_rows = 0;
  for (int round = 0; round < 2000; ++round) {
    const TestRow row = random_row(random, 120);
    const auto units = static_cast<std::int64_t>(1 + random.below(20));
    const auto may_move = [](void* data) {
      return reinterpret_cast<std::uintptr_t>(data) % 7 != 0;
    };
    const MovedRow made = make(row, units, may_move);
    if (made.moves.empty()) continue;
    ++made_rows;
    ASSERT_GE(longest_free(made.row), units);
  }
  EXPECT_GT(made_rows, 500);
}

}  // namespace
}  // namespace lowtide::engine
