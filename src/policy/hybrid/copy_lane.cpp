// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/copy_lane.h"

#include <algorithm>
#include <iterator>

namespace lowtide::policy {

CopyLane::Slot CopyLane::earliest(double from, double length) const {
  double start = from;
  auto next = busy_.upper_bound(from);
  if (next != busy_.begin()) start = std::max(start, std::prev(next)->second);
  for (; next != busy_.end() && next->first < start + length; ++next) start = next->second;
  return {start, start + length};
}

CopyLane::Slot CopyLane::latest(double by, double length) const {
  return *latest_nearby(by, length, busy_.size());
}

std::optional<CopyLane::Slot> CopyLane::latest_nearby(double by, double length,
                                                      std::size_t stretches) const {
  double end = by;
  // The first stretch that starts at `by` or later does not matter; those before it may.
  auto next = busy_.lower_bound(by);
  while (next != busy_.begin()) {
    const auto previous = std::prev(next);
    if (previous->second <= end - length) break;
    if (stretches-- == 0) return std::nullopt;
    end = std::min(end, previous->first);
    next = previous;
  }
  return Slot{end - length, end};
}

void CopyLane::take(Slot slot) {
  auto next = busy_.lower_bound(slot.start);
  if (next != busy_.begin() && std::prev(next)->second >= slot.start) {
    --next;
    slot.start = next->first;
    slot.end = std::max(slot.end, next->second);
    next = busy_.erase(next);
  }
  while (next != busy_.end() && next->first <= slot.end) {
    slot.end = std::max(slot.end, next->second);
    next = busy_.erase(next);
  }
  busy_.emplace(slot.start, slot.end);
}

}  // namespace lowtide::policy
