// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/waiting_intervals.h"

#include <algorithm>
#include <utility>

namespace lowtide::solve {

WaitingIntervals::WaitingIntervals(std::vector<Interval> intervals)
    : intervals_(std::move(intervals)) {
  std::sort(intervals_.begin(), intervals_.end(),
            [](const Interval& a, const Interval& b) { return a.first < b.first; });
  while (leaves_ < intervals_.size()) leaves_ *= 2;
  furthest_.assign(2 * leaves_, -1);
  for (std::size_t i = 0; i < intervals_.size(); ++i) furthest_[leaves_ + i] = intervals_[i].last;
  for (std::size_t node = leaves_; --node > 0;) {
    furthest_[node] = std::max(furthest_[2 * node], furthest_[2 * node + 1]);
  }
}

std::vector<std::int32_t> WaitingIntervals::take_covering(std::int32_t position) {
  const auto end = std::upper_bound(
      intervals_.begin(), intervals_.end(), position,
      [](std::int32_t wanted, const Interval& interval) { return wanted < interval.first; });
  std::vector<std::int32_t> ids;
  take(1, 0, leaves_, static_cast<std::size_t>(end - intervals_.begin()), position, ids);
  return ids;
}

void WaitingIntervals::take(std::size_t node, std::size_t low, std::size_t high, std::size_t end,
                            std::int32_t position, std::vector<std::int32_t>& ids) {
  if (low >= end || furthest_[node] < position) return;
  if (high - low == 1) {
    ids.push_back(intervals_[low].id);
    furthest_[node] = -1;
    return;
  }
  const std::size_t middle = low + (high - low) / 2;
  take(2 * node, low, middle, end, position, ids);
  take(2 * node + 1, middle, high, end, position, ids);
  furthest_[node] = std::max(furthest_[2 * node], furthest_[2 * node + 1]);
}

}  // namespace lowtide::solve
