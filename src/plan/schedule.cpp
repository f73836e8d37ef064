// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/schedule.h"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

namespace lowtide::plan {
namespace {

std::shared_ptr<const trace::Lifetimes> lifetimes_under(const Trace& trace, const Plan& plan) {
  for (const Action& action : plan.actions) {
    if (const auto* order = std::get_if<Order>(&action)) {
      return std::make_shared<const trace::Lifetimes>(trace, order->sequence);
    }
  }
  return trace.lifetimes();
}

}  // namespace

Schedule::Schedule(const Trace& trace, const Plan& plan)
    : lifetimes_(lifetimes_under(trace, plan)), chosen_(trace.ops().size(), -1) {
  Unsorted unsorted;
  for (std::size_t i = 0; i < plan.actions.size(); ++i) {
    add(plan.actions[i], static_cast<std::int32_t>(i), unsorted);
  }
  const std::size_t ticks = trace.ops().size() + 1;
  issues_ = base::Grouped<std::int32_t>(ticks, unsorted.issues);
  waits_ = base::Grouped<std::int32_t>(ticks, unsorted.waits);
  prelude_ = base::Grouped<std::int32_t>(ticks, unsorted.prelude);
  releases_ = base::Grouped<std::int32_t>(ticks, unsorted.releases);
  merge_holds();
}

Schedule::At Schedule::at(Tick tick) const {
  const auto slot = static_cast<std::size_t>(tick);
  return {issues_[slot], waits_[slot], prelude_[slot], releases_[slot]};
}

void Schedule::merge_holds() {
  base::Grouped<ValueId>::Items ending;
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
      if (interval.until <= lifetimes_->of(value).dies) continue;
      ending.emplace_back(static_cast<std::size_t>(interval.until), value);
    }
  }
  // The map has no order of its own; results must not depend on it.
  std::sort(ending.begin(), ending.end());
  holds_ending_ = base::Grouped<ValueId>(static_cast<std::size_t>(end()) + 1, ending);
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
  return hold.from == OpId{0} ? 0 : lifetimes_->tick_of(hold.from);
}

void Schedule::add(const Action& action, std::int32_t index, Unsorted& unsorted) {
  std::visit(
      [&](const auto& a) {
        using A = std::decay_t<decltype(a)>;
        if constexpr (std::is_same_v<A, Drop>) {
          const bool after = a.side == Drop::Side::kAfter;
          (after ? unsorted.releases : unsorted.prelude).emplace_back(slot_of(a.op), index);
        } else if constexpr (std::is_same_v<A, Hold>) {
          if (first_tick(a) > last_tick(a)) return;
          holds_[a.value].push_back({first_tick(a), last_tick(a)});
        } else if constexpr (std::is_same_v<A, Run>) {
          unsorted.prelude.emplace_back(slot_of(a.before), index);
        } else if constexpr (std::is_same_v<A, Move> || std::is_same_v<A, Encode>) {
          unsorted.releases.emplace_back(slot_of(a.after), index);
        } else if constexpr (std::is_same_v<A, Fetch>) {
          unsorted.issues.emplace_back(slot_of(a.issue_before), index);
          unsorted.waits.emplace_back(slot_of(a.needed_by), index);
        } else if constexpr (std::is_same_v<A, Decode>) {
          unsorted.issues.emplace_back(slot_of(a.before), index);
        } else if constexpr (std::is_same_v<A, Choose>) {
          chosen_[a.op.slot()] = a.implementation;
        }
      },
      action);
}

}  // namespace lowtide::plan
