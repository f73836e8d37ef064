// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/row_maker.h"

#include <map>

#include <gtest/gtest.h>

#include "base/random.h"

namespace lowtide::engine {
namespace {

using Runs = std::vector<UnitRun>;

void* block(std::uintptr_t number) { return reinterpret_cast<void*>(number); }
bool any(void*) { return true; }

// Which block is in each unit; 0: none, -1: the unit is not there.
using Row = std::vector<std::intptr_t>;

Runs runs_of(const Row& row, std::intptr_t what) {
  Runs runs;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] != what) continue;
    const auto unit = static_cast<std::int64_t>(i);
    if (!runs.empty() && runs.back().first + runs.back().count == unit) {
      ++runs.back().count;
    } else {
      runs.push_back({unit, 1});
    }
  }
  return runs;
}

std::int64_t longest_free(const Row& row) {
  std::int64_t longest = 0;
  for (const UnitRun& run : runs_of(row, 0)) longest = std::max(longest, run.count);
  return longest;
}

// The moves, and the row after them.
struct Made {
  std::vector<RowMove> moves;
  Row row;
};

Made make(Row row, std::int64_t units, const std::function<bool(void*)>& may_move = any) {
  std::map<std::intptr_t, Runs> runs;
  for (const std::intptr_t what : row) {
    if (what > 0) runs[what] = runs_of(row, what);
  }
  std::vector<RowBlock> blocks;
  for (const auto& [what, its] : runs) {
    blocks.push_back({block(static_cast<std::uintptr_t>(what)), &its});
  }
  Made made = {make_row(units, runs_of(row, 0), blocks, may_move), row};
  // All are copied before any place is given up.
  for (const RowMove& move : made.moves) {
    EXPECT_TRUE(may_move(move.data));
    for (std::int64_t i = 0; i < move.to.count; ++i) {
      auto& unit = made.row[static_cast<std::size_t>(move.to.first + i)];
      EXPECT_EQ(unit, 0) << "not free";
      unit = -2;
    }
  }
  for (const RowMove& move : made.moves) {
    const auto what = reinterpret_cast<std::intptr_t>(move.data);
    std::int64_t size = 0;
    for (auto& unit : made.row) {
      if (unit != what) continue;
      unit = 0;
      ++size;
    }
    EXPECT_EQ(size, move.to.count);
    for (std::int64_t i = 0; i < size; ++i) {
      made.row[static_cast<std::size_t>(move.to.first + i)] = what;
    }
  }
  return made;
}

TEST(RowMaker, MovesTheLeastThatIsInTheWay) {
  // Two free, a block of two, two free, a block of one, two free.
  const Made made = make({0, 0, 1, 1, 0, 0, 2, 0, 0}, 4);
  ASSERT_EQ(made.moves.size(), 1);
  EXPECT_EQ(made.moves.front().data, block(2));
  EXPECT_GE(longest_free(made.row), 4);
}

TEST(RowMaker, ABlockInPiecesGoesToOnePlace) {
  const Made made = make({1, 0, 0, 1, 0, 2, 0, 0}, 3);
  ASSERT_FALSE(made.moves.empty());
  EXPECT_GE(longest_free(made.row), 3);
}

TEST(RowMaker, LeavesAloneWhatMustStay) {
  const auto not_two = [](void* data) { return data != block(2); };
  const Made made = make({0, 0, 1, 0, 0, 2, 0, 0, 0}, 4, not_two);
  ASSERT_EQ(made.moves.size(), 1);
  EXPECT_EQ(made.moves.front().data, block(1));
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
    Row row;
    std::intptr_t next = 1;
    while (row.size() < 120) {
      const std::uint64_t kind = random.below(10);
      const std::intptr_t what = kind < 5 ? 0 : kind == 5 ? -1 : kind == 6 && next > 1 ? 1 : next++;
      row.insert(row.end(), 1 + random.below(6), what);
    }
    const auto units = static_cast<std::int64_t>(1 + random.below(20));
    const auto may_move = [&](void* data) {
      return reinterpret_cast<std::uintptr_t>(data) % 7 != 0;
    };
    const Made made = make(row, units, may_move);
    if (made.moves.empty()) continue;
    ++made_rows;
    ASSERT_GE(longest_free(made.row), units);
  }
  EXPECT_GT(made_rows, 500);
}

}  // namespace
}  // namespace lowtide::engine
