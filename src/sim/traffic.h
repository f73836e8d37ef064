// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>

namespace lowtide::sim {

// Copies between device and host memory in one direction: how many bytes are on the way, and which
// of the plan's actions wait because that is as many as there may be. First come, first served.
class Traffic {
 public:
  explicit Traffic(std::int64_t most_bytes) : most_bytes_(most_bytes) {}

  // What is larger than the bound goes alone.
  bool has_room_for(std::int64_t bytes) const {
    return bytes_ == 0 || bytes <= most_bytes_ - bytes_;
  }
  void begin(std::int64_t bytes) { bytes_ += bytes; }
  void end(std::int64_t bytes) { bytes_ -= bytes; }

  bool is_waited_for() const { return !waiting_.empty(); }
  // The action that comes next. Requires: one waits.
  std::int32_t first() const { return waiting_.front(); }
  void wait(std::int32_t action) { waiting_.push_back(action); }
  // Requires: one waits.
  std::int32_t take_first() {
    const std::int32_t action = waiting_.front();
    waiting_.pop_front();
    return action;
  }
  // False: none of them waits.
  template <class Predicate>
  bool take_if(const Predicate& is_wanted) {
    return std::erase_if(waiting_, is_wanted) > 0;
  }

 private:
  const std::int64_t most_bytes_;
  std::int64_t bytes_ = 0;
  // Indices of actions.
  std::deque<std::int32_t> waiting_;
};

}  // namespace lowtide::sim
