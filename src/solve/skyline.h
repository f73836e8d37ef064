// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lowtide::solve {

// Heights over the positions 0..size-1, all 0 at first, on which boxes are stacked: each comes to
// lie on the highest point below it. O(log size) a call.
class Skyline {
 public:
  explicit Skyline(std::size_t size);

  // Requires: first <= last < size.
  std::int64_t highest(std::size_t first, std::size_t last) const;
  // Everything from first to last is at least that high from now on.
  void raise(std::size_t first, std::size_t last, std::int64_t height);

 private:
  std::size_t leaves_ = 1;
  // By node of a binary tree: the height that all its positions have at least, and the highest of
  // any of them.
  std::vector<std::int64_t> floor_;
  std::vector<std::int64_t> top_;
};

}  // namespace lowtide::solve
