// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

namespace lowtide::solve {

// Intervals with priorities over the positions 0..size-1; finds the one of highest priority that
// covers a position. Each interval is filed under O(log size) nodes of a binary tree; changed and
// removed entries are skipped when they come up.
class StabIndex {
 public:
  explicit StabIndex(std::size_t size);

  // Files interval `id` (any small number, each used once) for first..last, both included.
  // Requires: first <= last < size.
  void add(std::int32_t id, std::size_t first, std::size_t last, double priority);
  void update(std::int32_t id, double priority);
  void remove(std::int32_t id);

  // Highest priority first; among equals the lowest id.
  std::optional<std::int32_t> best(std::size_t position);

 private:
  struct Entry {
    double priority;
    std::int32_t id;
    std::int32_t stamp;
    bool operator<(const Entry& other) const {
      return priority != other.priority ? priority < other.priority : id > other.id;
    }
  };
  struct Interval {
    std::size_t first = 0;
    std::size_t last = 0;
    // Entries with another stamp are out of date; -1 when removed.
    std::int32_t stamp = -1;
  };

  void file(std::int32_t id, double priority);
  std::priority_queue<Entry>& queue_at(std::size_t node);

  std::size_t leaves_ = 1;
  // By node: its entry in queues_, -1 before the first interval is filed there. Few ever have one.
  std::vector<std::int32_t> queue_of_;
  std::vector<std::priority_queue<Entry>> queues_;
  std::vector<Interval> intervals_;
};

}  // namespace lowtide::solve
