// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/victim_heap.h"

#include <map>

#include <gtest/gtest.h>

namespace lowtide::policy {
namespace {

constexpr auto kAnybody = [](ValueId) { return true; };

struct Scores {
  std::map<ValueId, double> by_value;
  VictimHeap heap{[this](ValueId value) { return by_value.at(value); }};

  void add(std::int32_t id, double score) {
    by_value[ValueId{id}] = score;
    heap.add(ValueId{id});
  }
};

TEST(VictimHeap, TheLowestScoreGoesFirstAndEachOnce) {
  Scores scores;
  scores.add(0, 2);
  scores.add(1, 1);
  scores.add(2, 3);
  EXPECT_EQ(scores.heap.best(kAnybody), ValueId{1});
  EXPECT_EQ(scores.heap.best(kAnybody), ValueId{0});
  EXPECT_EQ(scores.heap.best(kAnybody), ValueId{2});
  EXPECT_EQ(scores.heap.best(kAnybody), std::nullopt);
}

TEST(VictimHeap, AScoreThatHasRisenIsNoticed) {
  Scores scores;
  scores.add(0, 1);
  scores.add(1, 2);
  scores.by_value[ValueId{0}] = 3;
  EXPECT_EQ(scores.heap.best(kAnybody), ValueId{1});
  EXPECT_EQ(scores.heap.best(kAnybody), ValueId{0});
}

TEST(VictimHeap, AScoreThatHasFallenCountsOnceItIsAddedAgain) {
  Scores scores;
  scores.add(0, 3);
  scores.add(1, 2);
  scores.add(0, 1);
  EXPECT_EQ(scores.heap.best(kAnybody), ValueId{0});
}

TEST(VictimHeap, WhoIsNoCandidateLeaves) {
  Scores scores;
  scores.add(0, 1);
  scores.add(1, 2);
  EXPECT_EQ(scores.heap.best([](ValueId value) { return value != ValueId{0}; }), ValueId{1});
  EXPECT_EQ(scores.heap.best(kAnybody), std::nullopt);
}

}  // namespace
}  // namespace lowtide::policy
