// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/range_max.h"

#include <algorithm>

#include "base/check.h"

namespace lowtide::solve {

RangeMax::RangeMax(const std::vector<std::int64_t>& numbers)
    : size_(numbers.size()), nodes_(4 * numbers.size()) {
  LT_CHECK(!numbers.empty(), "nothing has no maximum");
  build(1, 0, size_ - 1, numbers);
}

void RangeMax::build(std::size_t node, std::size_t low, std::size_t high,
                     const std::vector<std::int64_t>& numbers) {
  if (low == high) {
    nodes_[node].max = numbers[low];
    return;
  }
  const std::size_t middle = low + (high - low) / 2;
  build(2 * node, low, middle, numbers);
  build(2 * node + 1, middle + 1, high, numbers);
  nodes_[node].max = std::max(nodes_[2 * node].max, nodes_[2 * node + 1].max);
}

void RangeMax::add(std::size_t first, std::size_t last, std::int64_t amount) {
  if (first > last || first >= size_) return;
  add(1, 0, size_ - 1, first, std::min(last, size_ - 1), amount);
}

void RangeMax::add(std::size_t node, std::size_t low, std::size_t high, std::size_t first,
                   std::size_t last, std::int64_t amount) {
  if (last < low || high < first) return;
  if (first <= low && high <= last) {
    nodes_[node].max += amount;
    nodes_[node].pending += amount;
    return;
  }
  const std::size_t middle = low + (high - low) / 2;
  add(2 * node, low, middle, first, last, amount);
  add(2 * node + 1, middle + 1, high, first, last, amount);
  nodes_[node].max =
      nodes_[node].pending + std::max(nodes_[2 * node].max, nodes_[2 * node + 1].max);
}

std::size_t RangeMax::argmax() const {
  std::size_t node = 1;
  std::size_t low = 0;
  std::size_t high = size_ - 1;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (nodes_[2 * node].max >= nodes_[2 * node + 1].max) {
      node = 2 * node;
      high = middle;
    } else {
      node = 2 * node + 1;
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace lowtide::solve
