// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/idle_gaps.h"

#include <algorithm>
#include <map>
#include <utility>

namespace lowtide::policy {

using trace::Tick;

namespace {

class Collector {
 public:
  Collector(const Trace& trace, const trace::Lifetimes& lifetimes)
      : trace_(trace), lifetimes_(lifetimes) {}

  void add_all(ValueId value) {
    const trace::Lifetime& life = lifetimes_.of(value);
    const Storage& storage = trace_.storage_of(value);
    const bool goes_round = storage.at_start && storage.at_end;
    Tick last_use = life.born;
    for (const Tick read : life.reads) {
      add({value, last_use, read}, goes_round && last_use < 0);
      last_use = read;
    }
    if (life.dies <= last_use) return;
    const bool is_outside = last_use < 0 || life.at_end;
    add({value, last_use, lifetimes_.end() + 1}, goes_round && is_outside);
  }

  std::vector<GapGroup> groups() && {
    for (auto& [storage, gaps] : around_) groups_.push_back({std::move(gaps), true});
    return std::move(groups_);
  }

 private:
  void add(const IdleGap& gap, bool goes_round) {
    if (goes_round) {
      around_[trace_.value(gap.value).storage.slot()].push_back(gap);
    } else {
      groups_.push_back({{gap}, false});
    }
  }

  const Trace& trace_;
  const trace::Lifetimes& lifetimes_;
  std::vector<GapGroup> groups_;
  // Of storages that are there before and after the step.
  std::map<std::size_t, std::vector<IdleGap>> around_;
};

}  // namespace

std::vector<GapGroup> idle_gaps(const Trace& trace, const trace::Lifetimes& lifetimes,
                                const std::vector<bool>& may_move) {
  Collector collector(trace, lifetimes);
  for (std::size_t i = 0; i < trace.values().size(); ++i) {
    if (may_move[trace.values()[i].storage.slot()]) collector.add_all(make_id<ValueId>(i));
  }
  return std::move(collector).groups();
}

double idle_seconds(const GapGroup& group, const trace::Lifetimes& lifetimes,
                    const StepClock& clock) {
  double seconds = 0;
  for (const IdleGap& gap : group.gaps) {
    seconds += clock.start(std::min(gap.need, lifetimes.end())) - clock.end(gap.after);
  }
  return seconds;
}

void sort_by_idle_seconds(std::vector<GapGroup>& groups, const trace::Lifetimes& lifetimes,
                          const StepClock& clock) {
  std::vector<std::pair<double, std::size_t>> order;
  order.reserve(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    order.emplace_back(idle_seconds(groups[i], lifetimes, clock), i);
  }
  std::sort(order.begin(), order.end());
  std::vector<GapGroup> sorted;
  sorted.reserve(groups.size());
  for (const auto& [seconds, i] : order) sorted.push_back(std::move(groups[i]));
  groups = std::move(sorted);
}

std::vector<Presence> if_it_stays(const GapGroup& group, const trace::Lifetimes& lifetimes) {
  std::vector<Presence> presences;
  for (const IdleGap& gap : group.gaps) {
    const Tick last = std::min(gap.need - 1, lifetimes.of(gap.value).dies);
    presences.push_back({gap.value, gap.after + 1, last});
  }
  return presences;
}

void leave(const Trace& trace, const IdleGap& gap, TierId tier, Tick issue,
           GapDecisions& decisions) {
  if (gap.after < 0) decisions.starts.push_back({trace.value(gap.value).storage, tier});
  decisions.swaps.push_back({gap.value, tier, gap.after, issue, gap.need});
}

void leave(const Trace& trace, const GapGroup& group, TierId tier, GapDecisions& decisions) {
  for (const IdleGap& gap : group.gaps) leave(trace, gap, tier, gap.need, decisions);
}

}  // namespace lowtide::policy
