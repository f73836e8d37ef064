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

void TickBytes::count_above(std::int64_t bytes, std::vector<std::int32_t>& counts) const {
  counts.resize(ticks_ + 1);
  std::int32_t count = 0;
  for (std::size_t tick = 0; tick < ticks_; ++tick) {
    counts[tick] = count;
    const std::size_t block = tick / kBlock;
    if (largest_[block] > bytes && shared_[block] + own_[tick] > bytes) ++count;
  }
  counts[ticks_] = count;
}

}  // namespace lowtide::policy
