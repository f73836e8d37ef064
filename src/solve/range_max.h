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

  std::int64_t max() const { return relative_[1]; }
  // The first position that holds max().
  std::size_t argmax() const;

 private:
  // Restores the invariant at a node whose children have changed.
  void settle(std::size_t node);

  std::size_t size_;
  std::size_t leaves_ = 1;
  // A binary tree: the largest number below a node, less that below its parent. The root has the
  // largest of all, and of two siblings one has 0. A single number a node, with siblings side by
  // side, is what keeps long rows in the cache.
  std::vector<std::int64_t> relative_;
};

}  // namespace lowtide::solve
