// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lowtide::engine {

// A block that every step asks for again.
struct RecurringBlock {
  std::int64_t units;
  // The events of the step between which it lives. It lives on into the next step, until `end`
  // there, if that is not after `begin`. -1: nobody knows.
  int begin;
  int end;
  bool is_known() const { return end >= 0; }
};

// Which blocks of a repeated step live at the same time. That is found out for one block and all
// others at once, which takes some microseconds for ten thousand: to write it down for each two
// would take a hundred megabytes.
class BlockLives {
 public:
  explicit BlockLives(const std::vector<RecurringBlock>& blocks);

  // By block, 1 or 0: whether it lives at the same time as this one; not itself, and none whose
  // life is not known. Holds until the next call.
  std::span<const std::uint8_t> met_by(std::size_t block) const;

 private:
  // Events of a step, and one more for those that are after all others.
  std::int32_t events_ = 1;
  // By block; no length: not known.
  std::vector<std::int32_t> begins_;
  std::vector<std::int32_t> lengths_;
  mutable std::vector<std::uint8_t> met_;
  mutable std::size_t last_asked_;
};

}  // namespace lowtide::engine
