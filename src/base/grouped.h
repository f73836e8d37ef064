// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace lowtide::base {

// Many short lists in one block of memory: what a vector of vectors is for, without an allocation
// for each. Made once, from the items in the order in which each list shall have them.
template <class Item>
class Grouped {
 public:
  Grouped() = default;

  // Requires: every first is below `groups`.
  Grouped(std::size_t groups, const std::vector<std::pair<std::size_t, Item>>& items) {
    // Lists that are all empty, which is common, take no memory at all.
    if (items.empty()) return;
    starts_.assign(groups + 1, 0);
    for (const auto& [group, item] : items) ++starts_[group + 1];
    for (std::size_t group = 0; group < groups; ++group) starts_[group + 1] += starts_[group];
    items_.resize(items.size());
    std::vector<std::uint32_t> next(starts_.begin(), starts_.end() - 1);
    for (const auto& [group, item] : items) items_[next[group]++] = item;
  }

  std::span<const Item> operator[](std::size_t group) const {
    if (items_.empty()) return {};
    return {items_.data() + starts_[group], starts_[group + 1] - starts_[group]};
  }

 private:
  // Where each list starts in items_; one more entry than lists.
  std::vector<std::uint32_t> starts_;
  std::vector<Item> items_;
};

}  // namespace lowtide::base
