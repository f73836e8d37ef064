// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/grouped.h"
#include "lowtide/plan.h"
#include "plan/schedule.h"

namespace lowtide::engine {

// By what the ops of a step are known again when the program runs it another time. Storages are
// those of the step's trace.
struct StepScript {
  struct Line {
    // Differs between ops and between sizes of what they are given.
    std::uint64_t signature = 0;
    // Where in `storages` those of the arguments begin; those of the results follow.
    std::uint32_t first = 0;
    std::uint32_t arguments = 0;
    std::uint32_t results = 0;
  };
  std::vector<Line> lines;
  std::vector<StorageId> storages;

  std::span<const StorageId> arguments(const Line& line) const {
    return {storages.data() + line.first, line.arguments};
  }
  std::span<const StorageId> results(const Line& line) const {
    return {storages.data() + line.first + line.arguments, line.results};
  }
  // Differs between steps that do not run the same ops on the same sizes.
  std::uint64_t shape() const;
  // Whether both begin with the same ops, so many of them.
  bool begins_as(const StepScript& other, std::size_t ops) const;
};

// A step as it was captured.
struct CapturedStep {
  std::shared_ptr<const Trace> trace;
  StepScript script;
};

// A step and the plan to carry it out by.
class GuidedStep {
 public:
  // Requires: verify() finds nothing wrong with the plan, and there is no Order in it. `departures`
  // is what the simulator says of it.
  GuidedStep(CapturedStep step, Plan plan, const std::vector<Departure>& departures = {});

  const CapturedStep& captured() const { return step_; }
  const Trace& trace() const { return *step_.trace; }
  const StepScript& script() const { return step_.script; }
  std::uint64_t shape() const { return shape_; }
  const Plan& plan() const { return plan_; }
  const plan::Schedule& schedule() const { return schedule_; }
  // Whether the plan may want the op to be carried out again.
  bool is_repeated(std::size_t op) const { return is_repeated_[op]; }
  // Whether the plan does something with what the storage holds, or repeats an op that uses it.
  bool is_touched(StorageId storage) const { return is_touched_[storage.slot()]; }
  // Whether nothing is to be done before or after the op, it is not repeated, and it writes only
  // what it returns.
  bool is_quiet(std::size_t op) const { return is_quiet_[op]; }
  // How many quiet ops in a row, from this one on, only look at storages in another way.
  int quiet_views_from(std::size_t op) const { return quiet_views_[op]; }
  // The last tick of what the plan holds in this one of the op's results; -1 without any.
  plan::Tick held_until(OpId op, plan::Tick tick) const;
  // Of ops whose results are read by replays among these actions: the last of those.
  std::map<OpId, std::int32_t> last_readers(std::span<const std::int32_t> actions) const;
  // Moved values whose bytes have left by the end of this tick: what is let go at the same place in
  // every step leaves the same holes in memory, for the same blocks.
  std::span<const ValueId> departed_in(std::size_t tick) const { return departed_in_[tick]; }
  // Whether the plan lets go of the value when the program has overwritten it or let go of it, so
  // that only a replay can have brought it back.
  bool is_dropped_dead(ValueId value) const { return dropped_dead_.contains(value); }
  // Values that stay alive past the program's last use of them, from this tick on.
  std::span<const Hold> holds_from(std::size_t tick) const { return holds_from_[tick]; }

 private:
  void find_repeated();
  void find_holds();
  void find_dropped_dead();
  void sort(const std::vector<Departure>& departures);
  void find_touched();
  void find_quiet();
  void count_quiet_views();
  bool writes_only_results(std::size_t op) const;

  CapturedStep step_;
  Plan plan_;
  std::uint64_t shape_;
  plan::Schedule schedule_;
  std::vector<bool> is_repeated_;
  std::vector<bool> is_touched_;
  std::vector<bool> is_quiet_;
  // By op, and one more.
  std::vector<int> quiet_views_;
  std::unordered_set<ValueId> dropped_dead_;
  base::Grouped<Hold> holds_from_;
  base::Grouped<ValueId> departed_in_;
};

}  // namespace lowtide::engine
