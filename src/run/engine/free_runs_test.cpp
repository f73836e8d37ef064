// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/free_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace lowtide::engine {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr std::int64_t kUnitsPerPage = 4;

TEST(FreeRuns, NeighboursAreOneRun) {
  FreeRuns runs(kUnitsPerPage);
  runs.resize(12);
  EXPECT_TRUE(runs.by_place().empty());
  runs.add({8, 2});
  runs.add({2, 3});
  EXPECT_THAT(runs.by_place(), ElementsAre(Pair(2, 3), Pair(8, 2)));
  EXPECT_EQ(runs.free_pages(), 0);
  runs.add({5, 3});
  EXPECT_THAT(runs.by_length(), ElementsAre(Pair(8, 2)));
  EXPECT_EQ(runs.free_pages(), 1);
  EXPECT_EQ(runs.free_units(), 8);
}

TEST(FreeRuns, WhatIsTakenLeavesTheRestOfItsRun) {
  FreeRuns runs(kUnitsPerPage);
  runs.resize(12);
  runs.add({0, 12});
  runs.take({5, 2});
  EXPECT_TRUE(runs.contains({0, 5}));
  EXPECT_FALSE(runs.contains({4, 2}));
  EXPECT_FALSE(runs.contains({6, 6}));
  EXPECT_FALSE(runs.contains({10, 3})) << "there are no more";
  EXPECT_THAT(runs.by_length(), ElementsAre(Pair(5, 0), Pair(5, 7)));
  runs.take({0, 5});
  runs.take({7, 5});
  EXPECT_TRUE(runs.by_place().empty());
  EXPECT_EQ(runs.free_units(), 0);
}

// However many changes there were since somebody asked.
TEST(FreeRuns, TheOrderIsThatOfAllChanges) {
  constexpr std::int64_t kUnits = 400;
  base::Random random(3);
  FreeRuns asked_often(kUnitsPerPage);
  FreeRuns asked_rarely(kUnitsPerPage);
  asked_often.resize(kUnits);
  asked_rarely.resize(kUnits);
  for (int i = 0; i < 5000; ++i) {
    const UnitRun run = {static_cast<std::int64_t>(random.below(kUnits - 4)),
                         1 + static_cast<std::int64_t>(random.below(4))};
    const bool is_free = asked_often.contains(run);
    bool is_taken = true;
    for (std::int64_t unit = run.first; unit < run.first + run.count; ++unit) {
      is_taken = is_taken && !asked_often.contains({unit, 1});
    }
    for (FreeRuns* runs : {&asked_often, &asked_rarely}) {
      if (is_free) runs->take(run);
      if (is_taken) runs->add(run);
    }
    asked_often.by_place();
    if (random.below(400) != 0) continue;
    ASSERT_EQ(asked_often.by_place(), asked_rarely.by_place()) << i;
    ASSERT_EQ(asked_often.by_length(), asked_rarely.by_length()) << i;
    ASSERT_EQ(asked_often.free_pages(), asked_rarely.free_pages()) << i;
    ASSERT_EQ(asked_often.free_units(), asked_rarely.free_units()) << i;
  }
}

}  // namespace
}  // namespace lowtide::engine
