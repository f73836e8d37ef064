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
  LT_CHECK(intervals_[slot].state == State::kUnused, "interval ", id, " is filed twice");
  intervals_[slot] = {State::kFiled, priority};
  const Entry entry{priority, id};
  // The usual walk up from both ends: nodes that lie wholly inside, none inside another.
  std::size_t low = first + leaves_;
  std::size_t high = last + leaves_ + 1;
  for (; low < high; low /= 2, high /= 2) {
    if (low % 2 == 1) queue_at(low++).push(entry);
    if (high % 2 == 1) queue_at(--high).push(entry);
  }
}

void StabIndex::lower(std::int32_t id, double priority) {
  Interval& interval = intervals_[static_cast<std::size_t>(id)];
  LT_CHECK(interval.state == State::kFiled && priority <= interval.priority, "interval ", id,
           " is lowered from ", interval.priority, " to ", priority);
  interval.priority = priority;
}

void StabIndex::remove(std::int32_t id) {
  intervals_[static_cast<std::size_t>(id)].state = State::kRemoved;
}

std::priority_queue<StabIndex::Entry>& StabIndex::queue_at(std::size_t node) {
  if (queue_of_[node] < 0) {
    queue_of_[node] = static_cast<std::int32_t>(queues_.size());
    queues_.emplace_back();
  }
  return queues_[static_cast<std::size_t>(queue_of_[node])];
}

// Afterwards its first entry, if any, is what its interval has now; no other has more than it says.
void StabIndex::bring_up_to_date(std::priority_queue<Entry>& queue,
                                 const std::vector<Interval>& intervals) {
  while (!queue.empty()) {
    const Entry first = queue.top();
    const Interval& interval = intervals[static_cast<std::size_t>(first.id)];
    if (interval.state == State::kFiled && interval.priority == first.priority) return;
    queue.pop();
    if (interval.state == State::kFiled) queue.push({interval.priority, first.id});
  }
}

std::optional<std::int32_t> StabIndex::best(std::size_t position) {
  std::optional<Entry> found;
  for (std::size_t node = position + leaves_; node > 0; node /= 2) {
    if (queue_of_[node] < 0) continue;
    auto& queue = queues_[static_cast<std::size_t>(queue_of_[node])];
    bring_up_to_date(queue, intervals_);
    if (!queue.empty() && (!found || *found < queue.top())) found = queue.top();
  }
  if (!found) return std::nullopt;
  return found->id;
}

}  // namespace lowtide::solve
