// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/knapsack.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace lowtide::solve {

Knapsack::Knapsack(std::vector<Item> items, std::int64_t largest_capacity, std::size_t slots)
    : items_(std::move(items)), largest_capacity_(largest_capacity), slots_(slots) {
  LT_CHECK(slots > 0, "a knapsack without slots");
  // Finer than the unit of weight is of no use.
  slots_ = std::min(slots_, static_cast<std::size_t>(std::max<std::int64_t>(1, largest_capacity)));
  std::vector<double> best(slots_ + 1, 0);
  taken_.reserve(items_.size());
  for (const Item& item : items_) {
    LT_CHECK(item.weight >= 0 && item.value >= 0, "an item of a knapsack has a negative measure");
    std::vector<bool> taken(slots_ + 1, false);
    const std::size_t weight = slots_of(item.weight);
    for (std::size_t left = slots_ + 1; left-- > weight;) {
      const double with = best[left - weight] + item.value;
      // What weighs nothing is taken whatever it is worth.
      if (with < best[left] || (with == best[left] && weight > 0)) continue;
      best[left] = with;
      taken[left] = true;
    }
    taken_.push_back(std::move(taken));
  }
}

// The weight in slots, rounded up; more than there are if it is too heavy for all of them.
std::size_t Knapsack::slots_of(std::int64_t weight) const {
  if (weight == 0) return 0;
  if (weight > largest_capacity_) return slots_ + 1;
  const auto slots = static_cast<double>(slots_);
  const double exact = static_cast<double>(weight) * slots / static_cast<double>(largest_capacity_);
  const auto whole = static_cast<std::size_t>(exact);
  return whole + (static_cast<double>(whole) < exact ? 1 : 0);
}

std::vector<bool> Knapsack::best(std::int64_t capacity) const {
  LT_CHECK(capacity <= largest_capacity_, "asked for a larger knapsack than was made");
  std::vector<bool> chosen(items_.size(), false);
  if (capacity < 0) return chosen;
  std::size_t left =
      largest_capacity_ == 0
          ? 0
          : static_cast<std::size_t>(static_cast<double>(capacity) * static_cast<double>(slots_) /
                                     static_cast<double>(largest_capacity_));
  for (std::size_t i = items_.size(); i-- > 0;) {
    if (!taken_[i][left]) continue;
    chosen[i] = true;
    left -= slots_of(items_[i].weight);
  }
  return chosen;
}

std::vector<bool> fill_greedily(const std::vector<Knapsack::Item>& items, std::int64_t capacity) {
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto worth = [&](std::size_t i) {
    if (items[i].weight == 0) return std::numeric_limits<double>::infinity();
    return items[i].value / static_cast<double>(items[i].weight);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return worth(a) > worth(b); });
  std::vector<bool> chosen(items.size(), false);
  for (const std::size_t i : order) {
    if (items[i].weight > capacity) continue;
    chosen[i] = true;
    capacity -= items[i].weight;
  }
  return chosen;
}

}  // namespace lowtide::solve
