// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/lifetimes.h"

namespace lowtide::policy {

// Bytes by tick, in blocks whose largest is known: changes and questions about a stretch of ticks
// look at its two ends and at one number for each block between them.
class TickBytes {
 public:
  explicit TickBytes(std::size_t ticks);

  // Adds to the ticks first..last, both included; nothing if first > last.
  void add(trace::Tick first, trace::Tick last, std::int64_t bytes);

  std::int64_t max() const;
  // The first tick that holds max().
  trace::Tick argmax() const;
  std::int64_t max(trace::Tick first, trace::Tick last) const;
  // Whether any of those ticks holds more than `bytes`; false if first > last.
  bool is_above(std::int64_t bytes, trace::Tick first, trace::Tick last) const;
  // Fills `counts` with how many ticks before each tick, and before the end, hold more than
  // `bytes`.
  void count_above(std::int64_t bytes, std::vector<std::int32_t>& counts) const;

 private:
  static constexpr std::size_t kBlock = 64;

  void add_within(std::size_t block, std::size_t first, std::size_t last, std::int64_t bytes);

  std::size_t ticks_;
  // By tick: what does not belong to the whole block.
  std::vector<std::int64_t> own_;
  // By block: added to all its ticks, and the largest of them with that.
  std::vector<std::int64_t> shared_;
  std::vector<std::int64_t> largest_;
};

}  // namespace lowtide::policy
