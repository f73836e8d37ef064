// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lowtide::solve {

// Intervals that wait until somebody asks for a position they cover, each handed out once. It takes
// a few bytes an interval where a StabIndex takes an entry in each of O(log size) queues, so it is
// the place for those that may never be asked for.
class WaitingIntervals {
 public:
  struct Interval {
    std::int32_t id = 0;
    // Both included.
    std::int32_t first = 0;
    std::int32_t last = 0;
  };

  // Requires: no interval has a negative end.
  explicit WaitingIntervals(std::vector<Interval> intervals);

  // The ids of all intervals that still wait and cover the position, in no particular order.
  // O(log n) for each, and once without any.
  std::vector<std::int32_t> take_covering(std::int32_t position);

 private:
  // Takes from those below a node of the tree that begin by `position`: they stand before `end`.
  void take(std::size_t node, std::size_t low, std::size_t high, std::size_t end,
            std::int32_t position, std::vector<std::int32_t>& ids);

  // By their first position.
  std::vector<Interval> intervals_;
  std::size_t leaves_ = 1;
  // A binary tree over intervals_: the furthest end of those that wait below each node, -1 if none.
  std::vector<std::int32_t> furthest_;
};

}  // namespace lowtide::solve
