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
// for each. Made once, from the items in the order in which each list shall have them: either
// collected before, or walked over twice, which takes no memory beside the lists.
template <class Item>
class Grouped {
 public:
  // The number of a list, and an item of it.
  using Items = std::vector<std::pair<std::uint32_t, Item>>;

  Grouped() = default;

  // Requires: every first is below `groups`.
  Grouped(std::size_t groups, const Items& items) {
    // Lists that are all empty, which is common, take no memory at all.
    if (items.empty()) return;
    fill(groups, [&items](auto add) {
      for (const auto& [group, item] : items) add(group, item);
    });
  }

  // `walk(add)` calls add(group, item) for all items, the same ones both times it is called.
  // Requires: every group is below `groups`.
  template <class Walk>
  static Grouped from_walk(std::size_t groups, const Walk& walk) {
    Grouped result;
    result.fill(groups, walk);
    return result;
  }

  std::span<const Item> operator[](std::size_t group) const {
    if (items_.empty()) return {};
    return {items_.data() + starts_[group], starts_[group + 1] - starts_[group]};
  }

 private:
  template <class Walk>
  void fill(std::size_t groups, const Walk& walk) {
    // Counted two places further on, a list's start moves from one place further on to its own
    // as the list before it fills up.
    starts_.assign(groups + 2, 0);
    walk([this](std::size_t group, const Item&) { ++starts_[group + 2]; });
    for (std::size_t i = 2; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
    items_.resize(starts_.back());
    walk([this](std::size_t group, const Item& item) { items_[starts_[group + 1]++] = item; });
  }

  // Where each list starts in items_, and where the last one ends; one entry more than that.
  std::vector<std::uint32_t> starts_;
  std::vector<Item> items_;
};

}  // namespace lowtide::base
