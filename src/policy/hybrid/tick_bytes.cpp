// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/tick_bytes.h"

#include <algorithm>

namespace lowtide::policy {

using trace::Tick;

TickBytes::TickBytes(std::size_t ticks)
    : ticks_(ticks),
      own_((ticks + kBlock - 1) / kBlock * kBlock, 0),
      shared_(own_.size() / kBlock, 0),
      largest_(own_.size() / kBlock, 0) {}

void TickBytes::add(Tick first, Tick last, std::int64_t bytes) {
  if (first > last) return;
  const auto from = static_cast<std::size_t>(first);
  const auto to = static_cast<std::size_t>(last);
  for (std::size_t block = from / kBlock; block <= to / kBlock; ++block) {
    const std::size_t begin = block * kBlock;
    if (from <= begin && begin + kBlock - 1 <= to) {
      shared_[block] += bytes;
      largest_[block] += bytes;
    } else {
      add_within(block, std::max(from, begin), std::min(to, begin + kBlock - 1), bytes);
    }
  }
}

void TickBytes::add_within(std::size_t block, std::size_t first, std::size_t last,
                           std::int64_t bytes) {
  for (std::size_t i = first; i <= last; ++i) own_[i] += bytes;
  const auto begin = own_.begin() + static_cast<std::ptrdiff_t>(block * kBlock);
  const auto size = static_cast<std::ptrdiff_t>(std::min(kBlock, ticks_ - block * kBlock));
  largest_[block] = shared_[block] + *std::max_element(begin, begin + size);
}

std::int64_t TickBytes::max() const { return *std::max_element(largest_.begin(), largest_.end()); }

Tick TickBytes::argmax() const {
  const auto largest = std::max_element(largest_.begin(), largest_.end());
  const auto block = static_cast<std::size_t>(largest - largest_.begin());
  std::size_t tick = block * kBlock;
  while (shared_[block] + own_[tick] != *largest) ++tick;
  return static_cast<Tick>(tick);
}

std::int64_t TickBytes::max(Tick first, Tick last) const {
  const auto to = static_cast<std::size_t>(last);
  std::int64_t largest = 0;
  for (auto tick = static_cast<std::size_t>(first); tick <= to;) {
    const std::size_t block = tick / kBlock;
    if (tick == block * kBlock && tick + kBlock - 1 <= to) {
      largest = std::max(largest, largest_[block]);
      tick += kBlock;
    } else {
      largest = std::max(largest, shared_[block] + own_[tick]);
      ++tick;
    }
  }
  return largest;
}

bool TickBytes::is_above(std::int64_t bytes, Tick first, Tick last) const {
  if (first > last) return false;
  const auto from = static_cast<std::size_t>(first);
  const auto to = static_cast<std::size_t>(last);
  // Most answers come from a whole block.
  const std::size_t begin = (from + kBlock - 1) / kBlock;
  const std::size_t end = (to + 1) / kBlock;
  for (std::size_t block = begin; block < end; ++block) {
    if (largest_[block] > bytes) return true;
  }
  const auto is_part_above = [&](std::size_t block, std::size_t i, std::size_t last_tick) {
    if (largest_[block] <= bytes) return false;
    for (; i <= last_tick; ++i) {
      if (shared_[block] + own_[i] > bytes) return true;
    }
    return false;
  };
  const std::size_t first_end = std::min(to, from / kBlock * kBlock + kBlock - 1);
  if (is_part_above(from / kBlock, from, first_end)) return true;
  return from / kBlock != to / kBlock && is_part_above(to / kBlock, to / kBlock * kBlock, to);
}

void TickBytes::count_above(std::int64_t bytes, std::vector<std::int32_t>& counts) const {
  counts.resize(ticks_ + 1);
  std::int32_t count = 0;
  for (std::size_t block = 0; block < largest_.size(); ++block) {
    const std::size_t begin = block * kBlock;
    const std::size_t end = std::min(begin + kBlock, ticks_);
    if (largest_[block] <= bytes) {
      std::fill(counts.begin() + static_cast<std::ptrdiff_t>(begin),
                counts.begin() + static_cast<std::ptrdiff_t>(end), count);
      continue;
    }
    const std::int64_t most = bytes - shared_[block];
    for (std::size_t tick = begin; tick < end; ++tick) {
      counts[tick] = count;
      count += static_cast<std::int32_t>(own_[tick] > most);
    }
  }
  counts[ticks_] = count;
}

}  // namespace lowtide::policy
