// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lowtide::solve {

// The 0-1 knapsack for all capacities up to a largest one, by dynamic programming over slots of
// that capacity: O(items · slots) time, and as many bits of memory. Weights are rounded up to whole
// slots, so that no choice is ever too heavy; with fewer slots it may be less than the best.
class Knapsack {
 public:
  struct Item {
    std::int64_t weight = 0;
    double value = 0;
  };

  // Requires: weights and values are not negative, slots > 0.
  Knapsack(std::vector<Item> items, std::int64_t largest_capacity, std::size_t slots);

  // By item: whether it is in the most valuable choice that weighs no more than `capacity`, which
  // is at most the largest one. Items without weight are always in it.
  std::vector<bool> best(std::int64_t capacity) const;

 private:
  std::size_t slots_of(std::int64_t weight) const;

  std::vector<Item> items_;
  std::int64_t largest_capacity_;
  std::size_t slots_;
  // By item and slots that are left: whether the best choice among the items so far takes it.
  std::vector<std::vector<bool>> taken_;
};

// The same for one capacity, by value for each unit of weight: the best first, as long as they fit;
// what does not is passed over.
std::vector<bool> fill_greedily(const std::vector<Knapsack::Item>& items, std::int64_t capacity);

}  // namespace lowtide::solve
