// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/min_cut.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/random.h"

namespace lowtide::solve {
namespace {

struct Edge {
  int from;
  int to;
  std::int64_t capacity;
};

std::int64_t crossing(const std::vector<Edge>& edges, unsigned source_side) {
  std::int64_t sum = 0;
  for (const Edge& edge : edges) {
    const bool leaves = (source_side >> edge.from & 1U) != 0 && (source_side >> edge.to & 1U) == 0;
    if (leaves) sum += edge.capacity;
  }
  return sum;
}

// Over all ways to divide the nodes, 0 on one side and the last one on the other.
std::int64_t cut_by_trying_all(const std::vector<Edge>& edges, int nodes) {
  std::int64_t least = MinCut::kUncuttable;
  for (unsigned side = 1; side < 1U << (nodes - 1); side += 2) {
    least = std::min(least, crossing(edges, side));
  }
  return least;
}

TEST(MinCut, CutsTheNarrowestPlaceOfAChain) {
  MinCut cut(4);
  cut.add_edge(0, 1, 5);
  cut.add_edge(1, 2, 3);
  cut.add_edge(2, 3, 4);
  EXPECT_EQ(cut.solve(0, 3), 3);
  EXPECT_TRUE(cut.is_on_source_side(1));
  EXPECT_FALSE(cut.is_on_source_side(2));
}

TEST(MinCut, ThereIsNoneWhereAWayCannotBeCut) {
  MinCut cut(3);
  cut.add_edge(0, 1, MinCut::kUncuttable);
  cut.add_edge(1, 2, MinCut::kUncuttable);
  EXPECT_GE(cut.solve(0, 2), MinCut::kUncuttable);
}

TEST(MinCut, CostsNothingWhereNoWayLeads) {
  MinCut cut(3);
  cut.add_edge(1, 2, 7);
  EXPECT_EQ(cut.solve(0, 2), 0);
  EXPECT_FALSE(cut.is_on_source_side(1));
}

TEST(MinCut, IsTheOneFoundByTryingAll) {
  base::Random random(11);
  int not_zero = 0;
  for (int round = 0; round < 300; ++round) {
    const int nodes = 2 + static_cast<int>(random.below(8));
    std::vector<Edge> edges;
    MinCut cut(static_cast<std::size_t>(nodes));
    for (std::uint64_t i = random.below(25); i-- > 0;) {
      const auto count = static_cast<std::uint64_t>(nodes);
      edges.push_back({static_cast<int>(random.below(count)), static_cast<int>(random.below(count)),
                       static_cast<std::int64_t>(random.below(10))});
      cut.add_edge(edges.back().from, edges.back().to, edges.back().capacity);
    }
    const std::int64_t capacity = cut.solve(0, nodes - 1);
    EXPECT_EQ(capacity, cut_by_trying_all(edges, nodes)) << round;
    unsigned side = 0;
    for (int node = 0; node < nodes; ++node) {
      if (cut.is_on_source_side(node)) side |= 1U << node;
    }
    EXPECT_EQ(crossing(edges, side), capacity) << round;
    EXPECT_EQ(side >> (nodes - 1) & 1U, 0U) << round;
    if (capacity > 0) ++not_zero;
  }
  EXPECT_GT(not_zero, 50);
}

// Ways as long as these would overflow a stack.
TEST(MinCut, LongChainsAreNoTrouble) {
  constexpr int kNodes = 200'000;
  MinCut cut(kNodes);
  for (int i = 0; i + 1 < kNodes; ++i) cut.add_edge(i, i + 1, 10 + i % 7);
  EXPECT_EQ(cut.solve(0, kNodes - 1), 10);
}

}  // namespace
}  // namespace lowtide::solve
