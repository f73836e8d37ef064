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
// covers a position. Each interval is filed under O(log size) nodes of a binary tree. Priorities
// only fall: where an interval has come down is put right when it comes up in a node, so that most
// of its nodes never hear of it.
class StabIndex {
 public:
  explicit StabIndex(std::size_t size);

  // Files interval `id` (any small number, each used once) for first..last, both included.
  // Requires: first <= last < size.
  void add(std::int32_t id, std::size_t first, std::size_t last, double priority);
  // Requires: filed, and no higher than it was.
  void lower(std::int32_t id, double priority);
  void remove(std::int32_t id);

  // Highest priority first; among equals the lowest id.
  std::optional<std::int32_t> best(std::size_t position);

 private:
  struct Entry {
    double priority;
    std::int32_t id;
    bool operator<(const Entry& other) const {
      return priority != other.priority ? priority < other.priority : id > other.id;
    }
  };
  enum class State : std::uint8_t { kUnused, kFiled, kRemoved };
  struct Interval {
    State state = State::kUnused;
    // An entry with a higher one is out of date.
    double priority = 0;
  };

  std::priority_queue<Entry>& queue_at(std::size_t node);
  static void bring_up_to_date(std::priority_queue<Entry>& queue,
                               const std::vector<Interval>& intervals);

  std::size_t leaves_ = 1;
  // By node: its entry in queues_, -1 before the first interval is filed there. Few ever have one.
  std::vector<std::int32_t> queue_of_;
  std::vector<std::priority_queue<Entry>> queues_;
  std::vector<Interval> intervals_;
};

}  // namespace lowtide::solve
