// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/range_max.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace lowtide::solve {
namespace {

// What fills the row up to a power of two: never the largest, and far from overflow.
constexpr std::int64_t kNothing = std::numeric_limits<std::int64_t>::min() / 4;

}  // namespace

RangeMax::RangeMax(const std::vector<std::int64_t>& numbers) : size_(numbers.size()) {
  LT_CHECK(!numbers.empty(), "nothing has no maximum");
  while (leaves_ < size_) leaves_ *= 2;
  relative_.reserve(2 * leaves_);
  relative_.resize(leaves_, 0);
  relative_.insert(relative_.end(), numbers.begin(), numbers.end());
  relative_.resize(2 * leaves_, kNothing);
  for (std::size_t node = leaves_; --node > 0;) settle(node);
}

void RangeMax::settle(std::size_t node) {
  std::int64_t& left = relative_[2 * node];
  std::int64_t& right = relative_[2 * node + 1];
  const std::int64_t larger = std::max(left, right);
  left -= larger;
  right -= larger;
  relative_[node] += larger;
}

void RangeMax::add(std::size_t first, std::size_t last, std::int64_t amount) {
  if (first > last || first >= size_) return;
  std::size_t low = first + leaves_;
  std::size_t high = std::min(last, size_ - 1) + leaves_ + 1;
  // The usual walk up from both ends. The nodes that border on the range are passed on the way, and
  // their parents are settled level by level.
  std::size_t left = low;
  std::size_t right = high - 1;
  for (; left > 0; left /= 2, right /= 2, low /= 2, high /= 2) {
    if (left < leaves_) {
      settle(left);
      if (right != left) settle(right);
    }
    if (low >= high) continue;
    if (low % 2 == 1) relative_[low++] += amount;
    if (high % 2 == 1) relative_[--high] += amount;
  }
}

std::size_t RangeMax::argmax() const {
  std::size_t node = 1;
  while (node < leaves_) node = 2 * node + (relative_[2 * node] == 0 ? 0 : 1);
  return node - leaves_;
}

}  // namespace lowtide::solve
