// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lowtide/trace.h"
#include "trace/lifetimes.h"

namespace lowtide::policy {

// Which values are kept in which blocks of ticks, a bit for each pair: who looks for what is kept
// in one tick has to look at those of its block only, not at all values of the step.
class KeptBlocks {
 public:
  KeptBlocks(std::size_t ticks, std::size_t values);

  // Kept into some tick of first..last; nothing if first > last.
  void add(ValueId value, trace::Tick first, trace::Tick last);
  // Kept into no tick of any block that first..last touches. What of it is kept before and after
  // within the outermost blocks has to be added again.
  void remove(ValueId value, trace::Tick first, trace::Tick last);

  // The first and the last tick of the block that a tick is in.
  trace::Tick block_begin(trace::Tick tick) const;
  trace::Tick block_end(trace::Tick tick) const;

  // Fills `values` with those that are kept in the block of a tick.
  void list(trace::Tick tick, std::vector<ValueId>& values) const;

 private:
  std::size_t block(trace::Tick tick) const {
    return static_cast<std::size_t>(tick) / ticks_per_block_;
  }

  std::size_t ticks_per_block_;
  std::size_t words_per_block_;
  std::vector<std::uint64_t> words_;
};

}  // namespace lowtide::policy
