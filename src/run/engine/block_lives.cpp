// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/block_lives.h"

#include <algorithm>

namespace lowtide::engine {

BlockLives::BlockLives(const std::vector<RecurringBlock>& blocks)
    : met_(blocks.size(), 0), last_asked_(blocks.size()) {
  for (const RecurringBlock& block : blocks) {
    events_ = std::max({events_, block.begin + 1, block.end + 1});
  }
  for (const RecurringBlock& block : blocks) {
    const int length = block.end - block.begin;
    begins_.push_back(block.begin);
    lengths_.push_back(!block.is_known() ? 0 : length > 0 ? length : events_ + length);
  }
}

// Of two spans of a circle one begins in the other, or they have nothing in common.
std::span<const std::uint8_t> BlockLives::met_by(std::size_t block) const {
  if (block == last_asked_) return met_;
  last_asked_ = block;
  // Bytes may be anything, also the vectors: they are looked up once.
  const std::int32_t* const begins = begins_.data();
  const std::int32_t* const lengths = lengths_.data();
  std::uint8_t* const met = met_.data();
  const std::int32_t begin = begins[block];
  const std::int32_t length = lengths[block];
  const std::int32_t events = events_;
  for (std::size_t other = 0; other < met_.size(); ++other) {
    const std::int32_t later = begins[other] - begin;
    const std::int32_t after = later < 0 ? later + events : later;
    const bool is_met = (after < length) | (events - after < lengths[other]);
    met[other] = static_cast<std::uint8_t>(is_met & (lengths[other] > 0) & (length > 0));
  }
  met_[block] = 0;
  return met_;
}

}  // namespace lowtide::engine
