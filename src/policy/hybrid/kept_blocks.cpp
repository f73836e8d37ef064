// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/kept_blocks.h"

#include <algorithm>
#include <bit>

namespace lowtide::policy {

using trace::Tick;

namespace {

constexpr std::size_t kLeastTicksPerBlock = 16;
// More would take room, and a change of a long span time, for little.
constexpr std::size_t kMostBlocks = 256;
constexpr std::size_t kBits = 64;

}  // namespace

KeptBlocks::KeptBlocks(std::size_t ticks, std::size_t values)
    : ticks_per_block_(std::max(kLeastTicksPerBlock, ticks / kMostBlocks + 1)),
      words_per_block_((values + kBits - 1) / kBits),
      words_((ticks / ticks_per_block_ + 1) * words_per_block_, 0) {}

void KeptBlocks::add(ValueId value, Tick first, Tick last) {
  if (first > last) return;
  const std::uint64_t bit = std::uint64_t{1} << (value.slot() % kBits);
  for (std::size_t i = block(first); i <= block(last); ++i) {
    words_[i * words_per_block_ + value.slot() / kBits] |= bit;
  }
}

void KeptBlocks::remove(ValueId value, Tick first, Tick last) {
  if (first > last) return;
  const std::uint64_t bit = std::uint64_t{1} << (value.slot() % kBits);
  for (std::size_t i = block(first); i <= block(last); ++i) {
    words_[i * words_per_block_ + value.slot() / kBits] &= ~bit;
  }
}

Tick KeptBlocks::block_begin(Tick tick) const {
  return static_cast<Tick>(block(tick) * ticks_per_block_);
}

Tick KeptBlocks::block_end(Tick tick) const {
  return block_begin(tick) + static_cast<Tick>(ticks_per_block_) - 1;
}

void KeptBlocks::list(Tick tick, std::vector<ValueId>& values) const {
  values.clear();
  const std::size_t begin = block(tick) * words_per_block_;
  for (std::size_t i = 0; i < words_per_block_; ++i) {
    for (std::uint64_t left = words_[begin + i]; left != 0; left &= left - 1) {
      values.push_back(
          make_id<ValueId>(i * kBits + static_cast<std::size_t>(std::countr_zero(left))));
    }
  }
}

}  // namespace lowtide::policy
