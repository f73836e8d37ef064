// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/schedule.h"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

namespace lowtide::plan {
namespace {

trace::Lifetimes lifetimes_under(const Trace& trace, const Plan& plan) {
  for (const Action& action : plan.actions) {
    if (const auto* order = std::get_if<Order>(&action)) {
      return trace::Lifetimes(trace, order->sequence);
    }
  }
  return trace::Lifetimes(trace);
}

}  // namespace

Schedule::Schedule(const Trace& trace, const Plan& plan)
    : lifetimes_(lifetimes_under(trace, plan)),
      ticks_(trace.ops().size() + 1),
      holds_ending_(trace.ops().size() + 1),
      chosen_(trace.ops().size(), -1) {
  for (std::size_t i = 0; i < plan.actions.size(); ++i) {
    add(plan.actions[i], static_cast<std::int32_t>(i));
  }
  merge_holds();
}

void Schedule::merge_holds() {
  for (auto& [value, intervals] : holds_) {
    std::sort(intervals.begin(), intervals.end(),
              [](const Interval& a, const Interval& b) { return a.from < b.from; });
    std::vector<Interval> merged;
    for (const Interval& interval : intervals) {
      if (merged.empty() || interval.from > merged.back().until) {
        merged.push_back(interval);
      } else {
        merged.back().until = std::max(merged.back().until, interval.until);
      }
    }
    intervals = std::move(merged);
    for (const Interval& interval : intervals) {
      if (interval.until <= lifetimes_.of(value).dies) continue;
      holds_ending_[static_cast<std::size_t>(interval.until)].push_back(value);
    }
  }
  // The map has no order of its own; results must not depend on it.
  for (auto& values : holds_ending_) std::sort(values.begin(), values.end());
}

Tick Schedule::held_until(ValueId value, Tick tick) const {
  const auto found = holds_.find(value);
  if (found == holds_.end()) return -1;
  const auto after = std::upper_bound(found->second.begin(), found->second.end(), tick,
                                      [](Tick t, const Interval& i) { return t < i.from; });
  if (after == found->second.begin()) return -1;
  const Interval& candidate = *std::prev(after);
  return candidate.until >= tick ? candidate.until : -1;
}

Tick Schedule::first_tick(const Hold& hold) const {
  return hold.from == OpId{0} ? 0 : lifetimes_.tick_of(hold.from);
}

void Schedule::add(const Action& action, std::int32_t index) {
  std::visit(
      [&](const auto& a) {
        using A = std::decay_t<decltype(a)>;
        if constexpr (std::is_same_v<A, Drop>) {
          At& tick = at_op(a.op);
          (a.side == Drop::Side::kAfter ? tick.releases : tick.prelude).push_back(index);
        } else if constexpr (std::is_same_v<A, Hold>) {
          if (first_tick(a) > last_tick(a)) return;
          holds_[a.value].push_back({first_tick(a), last_tick(a)});
        } else if constexpr (std::is_same_v<A, Run>) {
          at_op(a.before).prelude.push_back(index);
        } else if constexpr (std::is_same_v<A, Move> || std::is_same_v<A, Encode>) {
          at_op(a.after).releases.push_back(index);
        } else if constexpr (std::is_same_v<A, Fetch>) {
          at_op(a.issue_before).issues.push_back(index);
          at_op(a.needed_by).waits.push_back(index);
        } else if constexpr (std::is_same_v<A, Decode>) {
          at_op(a.before).issues.push_back(index);
        } else if constexpr (std::is_same_v<A, Choose>) {
          chosen_[a.op.slot()] = a.implementation;
        }
      },
      action);
}

}  // namespace lowtide::plan
