// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/union_find.h"

#include <algorithm>
#include <utility>

namespace lowtide::solve {

std::int32_t WeightedUnionFind::make(double weight) {
  const auto element = static_cast<std::int32_t>(nodes_.size());
  nodes_.push_back({element, 1, weight});
  return element;
}

std::int32_t WeightedUnionFind::find(std::int32_t element) {
  while (nodes_[slot(element)].parent != element) {
    std::int32_t& parent = nodes_[slot(element)].parent;
    parent = nodes_[slot(parent)].parent;
    element = parent;
  }
  return element;
}

void WeightedUnionFind::unite(std::int32_t a, std::int32_t b) {
  a = find(a);
  b = find(b);
  if (a == b) return;
  if (nodes_[slot(a)].size < nodes_[slot(b)].size) std::swap(a, b);
  nodes_[slot(b)].parent = a;
  nodes_[slot(a)].size += nodes_[slot(b)].size;
  nodes_[slot(a)].weight += nodes_[slot(b)].weight;
}

void WeightedUnionFind::add_weight(std::int32_t element, double amount) {
  // Sums and differences of seconds drift by rounding; a class never weighs less than nothing.
  double& weight = nodes_[slot(find(element))].weight;
  weight = std::max(0.0, weight + amount);
}

}  // namespace lowtide::solve
