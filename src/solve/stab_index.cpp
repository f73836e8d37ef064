// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/stab_index.h"

#include "base/check.h"

namespace lowtide::solve {

StabIndex::StabIndex(std::size_t size) {
  while (leaves_ < size) leaves_ *= 2;
  queue_of_.assign(2 * leaves_, -1);
}

void StabIndex::add(std::int32_t id, std::size_t first, std::size_t last, double priority) {
  LT_CHECK(first <= last && last < leaves_, "bad interval ", first, "..", last);
  const auto slot = static_cast<std::size_t>(id);
  if (slot >= intervals_.size()) intervals_.resize(slot + 1);
  LT_CHECK(intervals_[slot].stamp < 0, "interval ", id, " is filed twice");
  intervals_[slot] = {first, last, 0};
  file(id, priority);
}

void StabIndex::update(std::int32_t id, double priority) {
  ++intervals_[static_cast<std::size_t>(id)].stamp;
  file(id, priority);
}

void StabIndex::remove(std::int32_t id) { intervals_[static_cast<std::size_t>(id)].stamp = -1; }

void StabIndex::file(std::int32_t id, double priority) {
  const Interval& interval = intervals_[static_cast<std::size_t>(id)];
  const Entry entry{priority, id, interval.stamp};
  // The usual walk up from both ends: nodes that lie wholly inside, none inside another.
  std::size_t low = interval.first + leaves_;
  std::size_t high = interval.last + leaves_ + 1;
  for (; low < high; low /= 2, high /= 2) {
    if (low % 2 == 1) queue_at(low++).push(entry);
    if (high % 2 == 1) queue_at(--high).push(entry);
  }
}

std::priority_queue<StabIndex::Entry>& StabIndex::queue_at(std::size_t node) {
  if (queue_of_[node] < 0) {
    queue_of_[node] = static_cast<std::int32_t>(queues_.size());
    queues_.emplace_back();
  }
  return queues_[static_cast<std::size_t>(queue_of_[node])];
}

std::optional<std::int32_t> StabIndex::best(std::size_t position) {
  std::optional<Entry> found;
  for (std::size_t node = position + leaves_; node > 0; node /= 2) {
    if (queue_of_[node] < 0) continue;
    auto& queue = queues_[static_cast<std::size_t>(queue_of_[node])];
    while (!queue.empty() &&
           queue.top().stamp != intervals_[static_cast<std::size_t>(queue.top().id)].stamp) {
      queue.pop();
    }
    if (!queue.empty() && (!found || *found < queue.top())) found = queue.top();
  }
  if (!found) return std::nullopt;
  return found->id;
}

}  // namespace lowtide::solve
