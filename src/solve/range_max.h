// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lowtide::solve {

// A row of numbers that answers "add to a range" and "where is the largest" in logarithmic time.
class RangeMax {
 public:
  // Requires: numbers is not empty.
  explicit RangeMax(const std::vector<std::int64_t>& numbers);

  // Adds to the positions first..last, both included; nothing if first > last.
  void add(std::size_t first, std::size_t last, std::int64_t amount);

  std::int64_t max() const { return nodes_[1].max; }
  // The first position that holds max().
  std::size_t argmax() const;

 private:
  struct Node {
    std::int64_t max = 0;
    // Belongs to the whole range of the node and is not yet in its children.
    std::int64_t pending = 0;
  };

  void build(std::size_t node, std::size_t low, std::size_t high,
             const std::vector<std::int64_t>& numbers);
  void add(std::size_t node, std::size_t low, std::size_t high, std::size_t first, std::size_t last,
           std::int64_t amount);

  std::size_t size_;
  std::vector<Node> nodes_;
};

}  // namespace lowtide::solve
