// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "base/digest.h"
#include "run/engine/page_layout.h"

namespace lowtide::engine {

// Watches which blocks come and go in a step, and whether the next step does the same.
class RecurringBlocks {
 public:
  // Of a step; what goes on without end, and nobody says that a step is over, is not followed.
  static constexpr std::size_t kMostBlocks = std::size_t{1} << 14;

  // The step that a block came in, and as which of its blocks.
  struct Birth {
    std::uint64_t step;
    std::size_t number;
  };

  Birth born(std::int64_t units);
  void died(const Birth& birth);
  void end_step();
  // The step under way, as births have it.
  std::uint64_t step() const { return step_; }
  // Of the block that comes next, in the step under way.
  std::size_t next_number() const { return lives_.size(); }

  // About the step that ended last.

  // Whether blocks came and went as in the step before.
  bool is_repeated() const { return is_repeated_; }
  // Steps that are alike have the same.
  std::uint64_t digest() const { return digest_; }
  // Its blocks in the order in which they came. How long those live that outlive the next step too
  // is not known.
  const std::vector<RecurringBlock>& blocks() const { return blocks_; }
  // Whether a block that is there now will come again.
  bool recurs(const Birth& birth) const;

 private:
  struct Life {
    std::int64_t units;
    int begin;
    // In the same step, and in the next one; -1: it did not die there.
    int end = -1;
    int end_in_next = -1;
  };

  void note(std::int64_t what);
  std::vector<RecurringBlock> known_blocks() const;

  std::uint64_t step_ = 1;
  int now_ = 0;
  base::Digest digest_so_far_;
  std::vector<Life> lives_;
  // Of the step before.
  std::vector<Life> last_lives_;

  std::uint64_t digest_ = 0;
  bool is_repeated_ = false;
  std::vector<RecurringBlock> blocks_;
};

}  // namespace lowtide::engine
