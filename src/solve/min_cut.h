// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lowtide::solve {

// The cheapest set of edges without which no way leads from a source to a sink, by Dinic's
// algorithm: O(V² E) at worst, in practice near linear on graphs of training steps.
class MinCut {
 public:
  using Node = std::int32_t;
  // Of an edge that is never cut. Sums of finite capacities must stay below it.
  static constexpr std::int64_t kUncuttable = std::int64_t{1} << 60;

  explicit MinCut(std::size_t nodes);

  // Requires: capacity >= 0.
  void add_edge(Node from, Node to, std::int64_t capacity);
  // The capacity of the cut; kUncuttable or more if there is none. Once only.
  std::int64_t solve(Node source, Node sink);

  // After solve(): whether the node is on the source's side of the cut. Of all cheapest cuts it is
  // the one that is nearest to the source.
  bool is_on_source_side(Node node) const { return level_[static_cast<std::size_t>(node)] >= 0; }

 private:
  struct Edge {
    Node to;
    // The next edge that leaves the same node, or -1. Edge i ^ 1 is the way back of edge i.
    std::int32_t next;
    std::int64_t left;
  };

  bool find_levels(Node source, Node sink);
  std::int64_t push_way(Node source, Node sink);

  std::vector<Edge> edges_;
  std::vector<std::int32_t> first_;
  // Steps from the source over edges that have something left; -1 for what is out of reach.
  std::vector<std::int32_t> level_;
  // The next edge to try from each node in this round.
  std::vector<std::int32_t> current_;
  std::vector<std::int32_t> way_;
};

}  // namespace lowtide::solve
