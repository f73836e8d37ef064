// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "run/engine/row_maker.h"

// For the tests of what is moved in a row of units.

namespace lowtide::engine {

// Which block is in each unit; 0: none, -1: the unit is not there.
using TestRow = std::vector<std::intptr_t>;

inline void* row_block(std::uintptr_t number) { return reinterpret_cast<void*>(number); }
inline bool any_block(void*) { return true; }

inline std::vector<UnitRun> runs_of(const TestRow& row, std::intptr_t what) {
  std::vector<UnitRun> runs;
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

// The moves, and the row after them.
struct MovedRow {
  std::vector<RowMove> moves;
  TestRow row;
};

// Carries out what `choose` makes of the free runs and the blocks, and checks that it can be done.
template <class Choose>
MovedRow move_in_row(const TestRow& row, const std::function<bool(void*)>& may_move,
                     const Choose& choose) {
  std::map<std::intptr_t, std::vector<UnitRun>> runs;
  for (const std::intptr_t what : row) {
    if (what > 0) runs[what] = runs_of(row, what);
  }
  std::vector<RowBlock> blocks;
  for (const auto& [what, its] : runs) {
    blocks.push_back({row_block(static_cast<std::uintptr_t>(what)), &its});
  }
  MovedRow moved = {choose(runs_of(row, 0), blocks), row};
  // All have a place before any gives up its own.
  for (const RowMove& move : moved.moves) {
    EXPECT_TRUE(may_move(move.data));
    for (std::int64_t i = 0; i < move.to.count; ++i) {
      auto& unit = moved.row[static_cast<std::size_t>(move.to.first + i)];
      EXPECT_EQ(unit, 0) << "not free";
      unit = -2;
    }
  }
  for (const RowMove& move : moved.moves) {
    const auto what = reinterpret_cast<std::intptr_t>(move.data);
    EXPECT_EQ(std::count(moved.row.begin(), moved.row.end(), what), move.to.count);
    std::replace(moved.row.begin(), moved.row.end(), what, std::intptr_t{0});
    std::fill_n(moved.row.begin() + move.to.first, move.to.count, what);
  }
  return moved;
}

// Blocks of up to six units, one of them in pieces, gaps, and units that are not there.
inline TestRow random_row(base::Random& random, std::size_t units) {
  TestRow row;
  std::intptr_t next = 1;
  while (row.size() < units) {
    const std::uint64_t kind = random.below(10);
    const std::intptr_t what = kind < 5 ? 0 : kind == 5 ? -1 : kind == 6 && next > 1 ? 1 : next++;
    row.insert(row.end(), 1 + random.below(6), what);
  }
  return row;
}

}  // namespace lowtide::engine
