// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/grouped.h"
#include "lowtide/plan.h"
#include "trace/lifetimes.h"

namespace lowtide::plan {

using trace::Tick;

// The first thing wrong with the names and positions in one action (an op, value, tier, codec or
// implementation that does not exist, an end position where none may stand), or nothing.
std::optional<Violation> check_names(const Problem& problem, const Action& action);
std::optional<Violation> check_names(const Problem& problem, const StartsIn& start);

// The index of the storage's codec of this name; -1 if it has none.
std::int32_t codec_index(const Storage& storage, std::string_view name);

// The actions of a plan sorted by when they take effect. Checker and simulator both walk it; it
// says nothing about whether the plan is right.
// Requires: check_names finds nothing, and an Order action is a permutation.
class Schedule {
 public:
  // What happens in one tick: indices into Plan::actions, each list in plan order.
  struct At {
    std::span<const std::int32_t> issues;    // Fetch by issue_before, Decode
    std::span<const std::int32_t> waits;     // Fetch by needed_by
    std::span<const std::int32_t> prelude;   // Run, Drop before
    std::span<const std::int32_t> releases;  // Drop after, Encode, Move
  };

  Schedule(const Trace& trace, const Plan& plan);

  const trace::Lifetimes& lifetimes() const { return *lifetimes_; }
  At at(Tick tick) const;
  Tick end() const { return lifetimes_->end(); }

  // The ticks that a Hold names. Op 0 stands for the first tick, also where an Order puts it later.
  Tick first_tick(const Hold& hold) const;
  Tick last_tick(const Hold& hold) const { return lifetimes_->tick_of(hold.until); }

  // The last tick of the Hold on the value that covers `tick`; -1 without one. Overlapping Holds
  // count as one; one that ends before it begins covers nothing.
  Tick held_until(ValueId value, Tick tick) const;
  // Values past their natural life of which a Hold ends with this tick.
  std::span<const ValueId> holds_ending(Tick tick) const {
    return holds_ending_[static_cast<std::size_t>(tick)];
  }
  // Index into Op::options, or -1 for the traced implementation.
  std::int32_t chosen(OpId op) const { return chosen_[op.slot()]; }

 private:
  // Actions by tick while they are being sorted.
  struct Unsorted {
    using List = base::Grouped<std::int32_t>::Items;
    List issues;
    List waits;
    List prelude;
    List releases;
  };

  void add(const Action& action, std::int32_t index, Unsorted& unsorted);
  std::size_t slot_of(OpId op) const { return static_cast<std::size_t>(lifetimes_->tick_of(op)); }

  struct Interval {
    Tick from;
    Tick until;
  };

  void merge_holds();

  // The trace's own, unless the plan has an Order.
  std::shared_ptr<const trace::Lifetimes> lifetimes_;
  base::Grouped<std::int32_t> issues_;
  base::Grouped<std::int32_t> waits_;
  base::Grouped<std::int32_t> prelude_;
  base::Grouped<std::int32_t> releases_;
  // By value; disjoint and in order. Sparse: most values have none.
  std::unordered_map<ValueId, std::vector<Interval>> holds_;
  base::Grouped<ValueId> holds_ending_;
  std::vector<std::int32_t> chosen_;
};

}  // namespace lowtide::plan
