// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/min_cut.h"

#include <algorithm>

#include "base/check.h"

namespace lowtide::solve {
namespace {

std::size_t slot(std::int32_t index) { return static_cast<std::size_t>(index); }

}  // namespace

MinCut::MinCut(std::size_t nodes) : first_(nodes, -1), level_(nodes, -1) {}

void MinCut::add_edge(Node from, Node to, std::int64_t capacity) {
  LT_CHECK(capacity >= 0, "an edge has a capacity of ", capacity);
  const auto index = static_cast<std::int32_t>(edges_.size());
  edges_.push_back({to, first_[slot(from)], capacity});
  first_[slot(from)] = index;
  edges_.push_back({from, first_[slot(to)], 0});
  first_[slot(to)] = index + 1;
}

std::int64_t MinCut::solve(Node source, Node sink) {
  std::int64_t total = 0;
  while (total < kUncuttable && find_levels(source, sink)) {
    current_ = first_;
    while (const std::int64_t pushed = push_way(source, sink)) {
      total += pushed;
      if (total >= kUncuttable) return kUncuttable;
    }
  }
  return total;
}

bool MinCut::find_levels(Node source, Node sink) {
  std::fill(level_.begin(), level_.end(), -1);
  std::vector<Node> queue{source};
  level_[slot(source)] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (std::int32_t e = first_[slot(queue[i])]; e >= 0; e = edges_[slot(e)].next) {
      const Edge& edge = edges_[slot(e)];
      if (edge.left == 0 || level_[slot(edge.to)] >= 0) continue;
      level_[slot(edge.to)] = level_[slot(queue[i])] + 1;
      queue.push_back(edge.to);
    }
  }
  return level_[slot(sink)] >= 0;
}

// Finds one way from level to level, and takes what its narrowest edge has left; 0 if there is none
// any more. Walks without recursion: ways are as long as steps are.
std::int64_t MinCut::push_way(Node source, Node sink) {
  way_.clear();
  Node node = source;
  while (node != sink) {
    std::int32_t& e = current_[slot(node)];
    while (e >= 0) {
      const Edge& edge = edges_[slot(e)];
      if (edge.left > 0 && level_[slot(edge.to)] == level_[slot(node)] + 1) break;
      e = edge.next;
    }
    if (e >= 0) {
      way_.push_back(e);
      node = edges_[slot(e)].to;
      continue;
    }
    if (way_.empty()) return 0;
    // A dead end: nobody goes there again in this round.
    const std::int32_t last = way_.back();
    way_.pop_back();
    node = edges_[slot(last ^ 1)].to;
    current_[slot(node)] = edges_[slot(last)].next;
  }
  std::int64_t narrowest = kUncuttable;
  for (const std::int32_t e : way_) narrowest = std::min(narrowest, edges_[slot(e)].left);
  for (const std::int32_t e : way_) {
    edges_[slot(e)].left -= narrowest;
    edges_[slot(e ^ 1)].left += narrowest;
  }
  return narrowest;
}

}  // namespace lowtide::solve
