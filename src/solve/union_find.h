// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

namespace lowtide::solve {

// Disjoint classes of elements, each with a weight; elements are made one at a time and never split
// off again.
class WeightedUnionFind {
 public:
  // A new element alone in its class.
  std::int32_t make(double weight);
  // The representative of its class.
  std::int32_t find(std::int32_t element);
  void unite(std::int32_t a, std::int32_t b);
  // The weight of the class it belongs to.
  double weight(std::int32_t element) { return nodes_[slot(find(element))].weight; }
  void add_weight(std::int32_t element, double amount);

 private:
  struct Node {
    std::int32_t parent;
    std::int32_t size;
    double weight;
  };
  static std::size_t slot(std::int32_t element) { return static_cast<std::size_t>(element); }

  std::vector<Node> nodes_;
};

}  // namespace lowtide::solve
