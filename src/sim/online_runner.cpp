// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/online_runner.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "cost/op_cost.h"
#include "plan/replay_reach.h"
#include "plan/source_holds.h"
#include "sim/neighbourhood.h"
#include "trace/lifetimes.h"

namespace lowtide::sim {
namespace {

using trace::Tick;

// The state of one run. Every value is on the device or nowhere.
class Runner {
 public:
  Runner(const Problem& problem, OnlinePolicy& policy, const OnlineOptions& options)
      : problem_(problem),
        trace_(*problem.trace),
        policy_(policy),
        options_(options),
        lifetimes_(*trace_.lifetimes()),
        costs_(trace_, problem.machine),
        holds_(plan::hold_sources(problem, lifetimes_, costs_)),
        reach_(trace_, lifetimes_, holds_),
        around_(trace_, lifetimes_, costs_, policy.neighbourhood()),
        places_(problem, costs_, policy.addresses(), options.places),
        large_(trace_.values().size(), options.search, options.seed, score_at_age()),
        small_(trace_.values().size(), options.search, options.seed + 1, score_at_age()),
        values_(trace_.values().size()),
        hold_ends_at_(static_cast<std::size_t>(lifetimes_.end()) + 1) {
    for (const plan::ExtendedLife& hold : holds_) {
      state(hold.value).held_until = hold.until;
      hold_ends_at_[static_cast<std::size_t>(hold.until)].push_back(hold.value);
      actions_.emplace_back(
          Hold{hold.value, op_at(hold.until), op_at(lifetimes_.of(hold.value).dies)});
    }
    find_small_size();
    for (std::size_t i = 0; i < trace_.values().size(); ++i) {
      if (trace_.values()[i].is_source()) appear(make_id<ValueId>(i));
    }
  }

  OnlineRun run() {
    OnlineRun result;
    bool through = used_bytes_ <= problem_.budget_bytes || fail_for_room(used_bytes_);
    for (tick_ = 0; through && tick_ < lifetimes_.end(); ++tick_) through = run_tick();
    tick_ = lifetimes_.end();
    through = through && return_survivors();
    result.replays = replays_;
    result.replay_seconds = replay_seconds_;
    if (!through) {
      result.failure = failure_;
      return result;
    }
    close_holds();
    Plan plan;
    plan.trace_digest = digest(trace_);
    plan.budget_bytes = problem_.budget_bytes;
    plan.actions = std::move(actions_);
    result.plan = std::move(plan);
    return result;
  }

 private:
  struct State {
    bool resident = false;
    // How many ops under way need it to stay.
    std::int32_t locks = 0;
    double last_use_seconds = 0;
    // Since when it has been kept past its natural death; -1 if it is not.
    Tick kept_from = -1;
    // For a source that is held: the last tick for which it is.
    Tick held_until = -1;
    std::int32_t times_replayed = 0;
  };

  // One replay that waits for its inputs.
  struct Frame {
    OpId op;
    std::size_t next_read = 0;
  };

  VictimIndex::ScoreAtAge score_at_age() {
    return [this](ValueId value, double age) {
      return policy_.score(Candidate{.value = value,
                                     .bytes = costs_.value(value),
                                     .compute_seconds = costs_.op(trace_.value(value).producer),
                                     .stale_seconds = age,
                                     .neighbour_seconds = around_.seconds_around(value),
                                     .free_beside_bytes = places_.free_beside(value),
                                     .times_replayed = state(value).times_replayed});
    };
  }

  void find_small_size() {
    double total = 0;
    std::int64_t count = 0;
    for (std::size_t i = 0; i < trace_.values().size(); ++i) {
      if (!reach_.can_drop(make_id<ValueId>(i))) continue;
      total += static_cast<double>(costs_.value_bytes[i]);
      ++count;
    }
    if (count > 0) small_bytes_ = options_.ignore_below * total / static_cast<double>(count);
  }

  State& state(ValueId value) { return values_[value.slot()]; }
  bool is_alive(ValueId value) const {
    const trace::Lifetime& life = lifetimes_.of(value);
    return life.born < tick_ && tick_ <= life.dies;
  }

  VictimIndex& index_of(ValueId value) {
    return static_cast<double>(costs_.value(value)) < small_bytes_ ? small_ : large_;
  }

  void add_candidate(ValueId value) {
    if (reach_.can_drop(value)) index_of(value).add(value, state(value).last_use_seconds);
  }

  void remove_candidate(ValueId value) {
    VictimIndex& index = index_of(value);
    if (index.contains(value)) index.remove(value);
  }

  void lock(ValueId value) {
    if (state(value).locks++ == 0) remove_candidate(value);
  }

  void unlock(ValueId value) {
    State& s = state(value);
    s.last_use_seconds = clock_seconds_;
    if (--s.locks == 0 && s.resident) add_candidate(value);
  }

  // The value is on the device from now on, locked or as a candidate.
  void appear(ValueId value) {
    State& s = state(value);
    s.resident = true;
    s.last_use_seconds = clock_seconds_;
    used_bytes_ += costs_.value(value);
    places_.enter(value);
    if (s.locks == 0) add_candidate(value);
  }

  // The value is nowhere from now on; what that means for the plan is the caller's business.
  void vanish(ValueId value) {
    State& s = state(value);
    s.resident = false;
    used_bytes_ -= costs_.value(value);
    places_.leave(value);
    remove_candidate(value);
    if (!trace_.value(value).is_source()) around_.on_evicted(value);
  }

  bool fail(std::string why) {
    failure_ = std::move(why);
    return false;
  }

  bool fail_for_room(std::int64_t bytes) {
    return fail(base::concat("no room for ", base::format_bytes(bytes), " at ",
                             trace_.op_name(here()), " with nothing left to drop"));
  }

  void drop(ValueId value) {
    State& s = state(value);
    if (s.kept_from >= 0) end_hold(value);
    vanish(value);
    actions_.emplace_back(Drop{value, here(), Drop::Side::kBefore});
  }

  OpId op_at(Tick tick) const { return lifetimes_.op_at(tick); }
  OpId here() const { return op_at(tick_); }

  void end_hold(ValueId value) {
    State& s = state(value);
    actions_.emplace_back(Hold{value, here(), op_at(s.kept_from)});
    s.kept_from = -1;
    held_here_.insert(value);
  }

  bool make_room(std::int64_t bytes) {
    while (used_bytes_ + bytes > problem_.budget_bytes) {
      std::optional<ValueId> victim = large_.find(clock_seconds_);
      if (!victim) victim = small_.find(clock_seconds_);
      if (!victim) return fail_for_room(bytes);
      drop(*victim);
    }
    return true;
  }

  // Sees to it that an op, or its replay, finds addresses for what it is about to make. Where the
  // policy makes room in rows, whatever lies in the cheapest row goes; what finds none even so does
  // without an address.
  void find_places(const Op& op, bool is_replay) {
    if (!places_.are_known()) return;
    for (const Use& write : op.writes) {
      const bool is_scratch = is_replay && (write.side_effect || state(write.value).resident);
      const std::optional<ValueId> old = previous(write.value);
      if (!is_replay && old && gives_up_place(*old)) continue;
      find_place(is_scratch ? ValueId{} : write.value, costs_.value(write.value));
    }
    find_place({}, cost::device_bytes(op.workspace_bytes, problem_.machine));
  }

  // A value that is not valid stands for scratch.
  void find_place(ValueId value, std::int64_t bytes) {
    const auto price = [this](ValueId other) -> std::optional<double> {
      if (!index_of(other).contains(other)) return std::nullopt;
      return index_of(other).score(other, clock_seconds_);
    };
    while (!(value.valid() ? places_.enter(value) : places_.enter_scratch(bytes))) {
      const std::vector<ValueId> row = places_.row_to_clear(bytes, price);
      if (row.empty()) return;
      for (const ValueId victim : row) drop(victim);
    }
  }

  // Brings back every value in `reads` and locks it. Locks what it got even when it fails; a failed
  // run ends anyway.
  bool prepare(std::span<const Use> reads, bool with_side_effects) {
    for (const Use& read : reads) {
      if (read.side_effect && !with_side_effects) continue;
      if (!state(read.value).resident && !compute_again(read.value)) return false;
      lock(read.value);
    }
    return true;
  }

  // Replays the producer of a value, and first those of its inputs that are nowhere, deepest first.
  bool compute_again(ValueId value) {
    std::vector<Frame> frames{Frame{trace_.value(value).producer}};
    while (!frames.empty()) {
      Frame& frame = frames.back();
      std::span<const Use> reads = trace_.op(frame.op).reads;
      OpId first_missing;
      while (frame.next_read < reads.size() && !first_missing.valid()) {
        const Use& read = reads[frame.next_read];
        if (!read.side_effect && !state(read.value).resident) {
          first_missing = trace_.value(read.value).producer;
          LT_CHECK(first_missing.valid(), "a replay reaches for ", trace_.value_name(read.value),
                   ", a source that is gone");
          continue;
        }
        if (!read.side_effect) lock(read.value);
        ++frame.next_read;
      }
      if (first_missing.valid()) {
        frames.push_back(Frame{first_missing});
        continue;
      }
      if (!replay(frame.op)) return false;
      frames.pop_back();
      const OpId waiting = frames.empty() ? OpId{} : frames.back().op;
      settle_results(replayed_, waiting, value);
    }
    return true;
  }

  // Requires: all its inputs are locked.
  bool replay(OpId id) {
    const Op& op = trace_.op(id);
    std::int64_t bytes = cost::device_bytes(op.workspace_bytes, problem_.machine);
    for (const Use& write : op.writes) bytes += costs_.value(write.value);
    find_places(op, /*is_replay=*/true);
    if (!make_room(bytes)) return false;
    places_.end_scratch();
    if (static_cast<double>(++replays_) >
        options_.max_replays_per_op * static_cast<double>(trace_.ops().size()) + 100) {
      return fail("replays explode at this budget");
    }
    actions_.emplace_back(Run{id, here()});
    clock_seconds_ += costs_.op(id);
    replay_seconds_ += costs_.op(id);
    replayed_ = id;
    return true;
  }

  // Decides what stays of a replay that just ran: what the program still has, and what the waiting
  // replay or op asked for. Then lets go of its inputs.
  void settle_results(OpId id, OpId waiting, ValueId target) {
    const Op& op = trace_.op(id);
    for (const Use& write : op.writes) {
      if (write.side_effect || state(write.value).resident) continue;
      around_.on_returned(write.value);
      ++state(write.value).times_replayed;
      appear(write.value);
      const bool asked_for =
          write.value == target || (waiting.valid() && reads(waiting, write.value));
      if (is_alive(write.value)) continue;
      if (!asked_for) {
        let_go_early(write.value);
      } else if (options_.keep_dead && reach_.can_drop(write.value)) {
        state(write.value).kept_from = tick_;
      }
    }
    for (const Use& read : op.reads) {
      if (read.side_effect) continue;
      unlock(read.value);
      const State& s = state(read.value);
      const bool stays = is_alive(read.value) || s.kept_from >= 0 || s.held_until >= tick_;
      if (s.resident && s.locks == 0 && !stays) let_go_early(read.value);
    }
  }

  bool reads(OpId id, ValueId value) const {
    std::span<const Use> uses = trace_.op(id).reads;
    return std::any_of(uses.begin(), uses.end(),
                       [&](const Use& use) { return use.value == value && !use.side_effect; });
  }

  // A dead value that no waiting replay needs goes. By the meaning of a prelude it goes by itself
  // unless a later replay of this tick reads it again: then the plan must say so.
  void let_go_early(ValueId value) {
    vanish(value);
    early_.emplace_back(actions_.size(), value);
    actions_.emplace_back(Drop{value, here(), Drop::Side::kBefore});
  }

  // Takes out the drops of let_go_early that would happen by themselves. A value whose hold ends in
  // this very tick would stay to its end, so its drop is needed.
  void tidy_prelude(std::size_t first_action) {
    const std::unordered_set<ValueId> held_here = std::exchange(held_here_, {});
    if (early_.empty()) return;
    std::unordered_set<ValueId> read_later;
    std::vector<bool> superfluous(actions_.size() - first_action, false);
    for (std::size_t i = actions_.size(); i-- > first_action;) {
      if (const auto* run = std::get_if<Run>(&actions_[i])) {
        for (const Use& read : trace_.op(run->op).reads) {
          if (!read.side_effect) read_later.insert(read.value);
        }
      }
      if (!early_.empty() && early_.back().first == i) {
        const ValueId value = early_.back().second;
        superfluous[i - first_action] = !read_later.contains(value) && !held_here.contains(value);
        early_.pop_back();
      }
    }
    std::size_t kept = first_action;
    for (std::size_t i = first_action; i < actions_.size(); ++i) {
      if (!superfluous[i - first_action]) actions_[kept++] = std::move(actions_[i]);
    }
    actions_.resize(kept, Action{Drop{}});
  }

  bool run_tick() {
    const Op& op = trace_.op(lifetimes_.op_at(tick_));
    const std::size_t first_action = actions_.size();
    if (!prepare(op.reads, /*with_side_effects=*/true)) return false;
    const std::int64_t bytes = result_bytes(op);
    find_places(op, /*is_replay=*/false);
    if (!make_room(bytes)) return false;
    places_.end_scratch();
    tidy_prelude(first_action);
    clock_seconds_ += costs_.op(lifetimes_.op_at(tick_));
    for (const Use& write : op.writes) replace_contents(write.value);
    for (const Use& read : op.reads) unlock(read.value);
    for (const ValueId dead : lifetimes_.deaths(tick_)) {
      if (state(dead).resident && state(dead).held_until <= tick_) vanish(dead);
    }
    for (const ValueId held : hold_ends_at_[static_cast<std::size_t>(tick_)]) {
      if (state(held).resident) vanish(held);
    }
    return true;
  }

  // What an op takes besides its inputs: new results, workspace, and places of evicted values that
  // it overwrites.
  std::int64_t result_bytes(const Op& op) {
    std::int64_t bytes = cost::device_bytes(op.workspace_bytes, problem_.machine);
    for (const Use& write : op.writes) {
      const std::optional<ValueId> old = previous(write.value);
      if (!old || !gives_up_place(*old)) bytes += costs_.value(write.value);
      // What is overwritten without being read must not be evicted to make room for itself.
      if (old && state(*old).resident && state(*old).locks == 0) remove_candidate(*old);
    }
    return bytes;
  }

  std::optional<ValueId> previous(ValueId value) const {
    const Value& v = trace_.value(value);
    if (v.version == 0) return std::nullopt;
    return trace_.versions(v.storage)[static_cast<std::size_t>(v.version) - 1];
  }

  // Whether what the running op overwrites makes room for the result: it does unless it is held.
  bool gives_up_place(ValueId old) const {
    const State& s = values_[old.slot()];
    return s.resident && s.held_until <= tick_;
  }

  void replace_contents(ValueId value) {
    const std::optional<ValueId> old = previous(value);
    if (old && gives_up_place(*old)) {
      places_.hand_over(*old, value);
      vanish(*old);
    }
    appear(value);
  }

  // Values that outlive the step must be there when it ends.
  bool return_survivors() {
    const std::size_t first_action = actions_.size();
    for (std::size_t i = 0; i < trace_.values().size(); ++i) {
      const auto value = make_id<ValueId>(i);
      if (!lifetimes_.of(value).at_end) continue;
      if (!state(value).resident && !compute_again(value)) return false;
      lock(value);
    }
    tidy_prelude(first_action);
    return true;
  }

  void close_holds() {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i].resident && values_[i].kept_from >= 0) end_hold(make_id<ValueId>(i));
    }
  }

  const Problem& problem_;
  const Trace& trace_;
  OnlinePolicy& policy_;
  OnlineOptions options_;
  const trace::Lifetimes& lifetimes_;
  cost::CostTable costs_;
  std::vector<plan::ExtendedLife> holds_;
  plan::ReplayReach reach_;
  EvictedNeighbourhood around_;
  OnlinePlaces places_;
  VictimIndex large_;
  VictimIndex small_;
  std::vector<State> values_;
  std::vector<std::vector<ValueId>> hold_ends_at_;
  std::vector<Action> actions_;
  // Drops of the running tick that may be superfluous: index in actions_, value.
  std::vector<std::pair<std::size_t, ValueId>> early_;
  // Values whose hold ended in the running tick.
  std::unordered_set<ValueId> held_here_;
  Tick tick_ = 0;
  // The op that was replayed last.
  OpId replayed_;
  double clock_seconds_ = 0;
  double small_bytes_ = 0;
  std::int64_t used_bytes_ = 0;
  std::int64_t replays_ = 0;
  double replay_seconds_ = 0;
  std::string failure_;
};

}  // namespace

OnlineRun run_online(const Problem& problem, OnlinePolicy& policy, const OnlineOptions& options) {
  return Runner(problem, policy, options).run();
}

}  // namespace lowtide::sim
