// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Dijkstra's search over states: the tick that is to come, and the values that are there. From a
// state the op of the tick is run, an op before it is replayed, or a value is dropped. Nothing is
// dropped as long as all of that fits: it can always be dropped later. What can be of no use any
// more goes by itself.
#include "policy/hybrid/small_step.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace lowtide::policy {
namespace {

using trace::Tick;
// One bit each.
using Values = std::uint64_t;

constexpr std::size_t kMostValues = 64;

Values bit(ValueId value) { return Values{1} << static_cast<unsigned>(value.index); }
ValueId first_of(Values values) { return ValueId{std::countr_zero(values)}; }

struct State {
  Tick tick = 0;
  Values there = 0;

  bool operator==(const State&) const = default;
};

struct StateHash {
  std::size_t operator()(const State& state) const {
    return (state.there + static_cast<Values>(state.tick)) * 0x9E3779B97F4A7C15U >> 7U;
  }
};

// How a state is reached: nothing, one value or more dropped; an op replayed; the op of the tick.
struct Way {
  enum class Kind : std::uint8_t { kDrop, kReplay, kGoOn };
  Kind kind = Kind::kDrop;
  OpId op;
};

class Search {
 public:
  Search(const TideStep& step, double host_share, std::size_t most_states)
      : step_(step), lives_(step.lifetimes), host_share_(host_share), most_states_(most_states) {
    for (const Op& op : step.trace.ops()) ops_.push_back(sets_of(op));
    for (std::size_t i = 0; i < step.trace.values().size(); ++i) {
      const auto value = make_id<ValueId>(i);
      if (lives_.of(value).at_end) outliving_ |= bit(value);
    }
    for (Tick tick = 0; tick <= lives_.end(); ++tick) useful_.push_back(useful(tick));
  }

  std::optional<std::vector<Action>> run() {
    const State start = {0, sources()};
    if (bytes(start.there) > budget()) return std::nullopt;
    reach(start, 0, {}, start);
    while (!queue_.empty() && visits_.size() <= most_states_ && !step_.problem.is_stopped()) {
      const auto [seconds, state] = queue_.top();
      queue_.pop();
      Visit& visit = visits_.at(state);
      if (visit.is_done) continue;
      visit.is_done = true;
      if (state.tick == lives_.end() && (outliving_ & ~state.there) == 0) {
        return write(state, start);
      }
      expand(state, seconds);
    }
    return std::nullopt;
  }

 private:
  struct OpSets {
    Values reads = 0;
    Values replay_reads = 0;
    Values results = 0;
    Values replay_results = 0;
    // What its results overwrite.
    Values overwritten = 0;
  };
  struct Visit {
    double seconds = std::numeric_limits<double>::infinity();
    bool is_done = false;
    Way way;
    State from;
  };
  struct Entry {
    double seconds = 0;
    State state;
    // Among equals those that are further on first: it ends the search earlier.
    bool operator<(const Entry& other) const {
      return std::tuple(seconds, other.state.tick, other.state.there) >
             std::tuple(other.seconds, state.tick, state.there);
    }
  };

  static std::size_t slot(Tick tick) { return static_cast<std::size_t>(tick); }
  std::int64_t budget() const { return step_.problem.budget_bytes; }

  OpSets sets_of(const Op& op) const {
    OpSets sets;
    for (const Use& read : op.reads) {
      sets.reads |= bit(read.value);
      if (!read.side_effect) sets.replay_reads |= bit(read.value);
    }
    for (const Use& write : op.writes) {
      sets.results |= bit(write.value);
      if (!write.side_effect) sets.replay_results |= bit(write.value);
      const Value& value = step_.trace.value(write.value);
      if (value.version == 0) continue;
      sets.overwritten |=
          bit(step_.trace.versions(value.storage)[static_cast<std::size_t>(value.version - 1)]);
    }
    return sets;
  }

  Values sources() const {
    Values values = 0;
    for (std::size_t i = 0; i < step_.trace.values().size(); ++i) {
      if (step_.trace.values()[i].is_source()) values |= bit(make_id<ValueId>(i));
    }
    return values;
  }

  std::int64_t bytes(Values values) const {
    std::int64_t sum = 0;
    for (; values != 0; values &= values - 1) sum += step_.costs.value(first_of(values));
    return sum;
  }

  // What is needed in this tick or later, or something can be computed from that is.
  Values useful(Tick tick) const {
    Values values = outliving_;
    for (Tick later = tick; later < lives_.end(); ++later) {
      values |= ops_[lives_.op_at(later).slot()].reads;
    }
    // Backwards: an op makes its results after what it reads.
    for (Tick before = lives_.end(); before-- > 0;) {
      const OpId op = lives_.op_at(before);
      const OpSets& sets = ops_[op.slot()];
      if (step_.trace.is_replayable(op) && (sets.replay_results & values) != 0) {
        values |= sets.replay_reads;
      }
    }
    return values;
  }

  bool may_go(ValueId value, Tick tick) const {
    return !step_.trace.storage_of(value).pinned || !lives_.of(value).exists_at(tick);
  }

  State tidied(State state) const {
    for (Values left = state.there & ~useful_[slot(state.tick)]; left != 0; left &= left - 1) {
      if (may_go(first_of(left), state.tick)) state.there &= ~(left & -left);
    }
    return state;
  }

  // Whether all that is useful could be made again from what is there.
  bool is_hopeful(const State& state) const {
    Values can_be = state.there;
    for (Tick before = 0; before < state.tick; ++before) {
      const OpId op = lives_.op_at(before);
      const OpSets& sets = ops_[op.slot()];
      if (step_.trace.is_replayable(op) && (sets.replay_reads & ~can_be) == 0) {
        can_be |= sets.replay_results;
      }
    }
    for (Tick tick = state.tick; tick < lives_.end(); ++tick) {
      const OpSets& sets = ops_[lives_.op_at(tick).slot()];
      if ((sets.reads & ~can_be) != 0) return false;
      can_be |= sets.results;
    }
    return (outliving_ & ~can_be) == 0;
  }

  void reach(const State& state, double seconds, Way way, const State& from) {
    Visit& visit = visits_[state];
    if (visit.seconds <= seconds) return;
    visit = {seconds, false, way, from};
    queue_.push({seconds, state});
  }

  void expand(const State& state, double seconds) {
    const bool goes_on = state.tick == lives_.end() || go_on(state, seconds);
    const bool replays = replay(state, seconds);
    if (!goes_on || !replays) drop(state, seconds);
  }

  // Whether it fits with all that is there.
  bool go_on(const State& state, double seconds) {
    const OpId op = lives_.op_at(state.tick);
    const OpSets& sets = ops_[op.slot()];
    if ((sets.reads & ~state.there) != 0) return true;
    bool fits = true;
    // Every part of what is overwritten and may yet be of use can be kept.
    const Values overwritten = state.there & sets.overwritten;
    const Values worth_keeping = overwritten & useful_[slot(state.tick + 1)];
    for (Values kept = worth_keeping;; kept = (kept - 1) & worth_keeping) {
      const Values there = (state.there & ~(overwritten & ~kept)) | sets.results;
      if (bytes(there) + step_.costs.workspace(op) <= budget()) {
        reach(tidied({state.tick + 1, there}), seconds, {Way::Kind::kGoOn, op}, state);
      } else {
        fits = false;
      }
      if (kept == 0) return fits;
    }
  }

  bool replay(const State& state, double seconds) {
    bool fits = true;
    const std::int64_t there_bytes = bytes(state.there);
    for (Tick before = 0; before < state.tick; ++before) {
      const OpId op = lives_.op_at(before);
      const OpSets& sets = ops_[op.slot()];
      if (!step_.trace.is_replayable(op) || (sets.replay_reads & ~state.there) != 0) continue;
      const Values made = sets.replay_results & ~state.there;
      if ((made & useful_[slot(state.tick)]) == 0) continue;
      if (there_bytes + bytes(sets.results) + step_.costs.workspace(op) > budget()) {
        fits = false;
        continue;
      }
      reach(tidied({state.tick, state.there | made}),
            seconds + step_.replay_seconds(op, host_share_), {Way::Kind::kReplay, op}, state);
    }
    return fits;
  }

  void drop(const State& state, double seconds) {
    for (Values left = state.there; left != 0; left &= left - 1) {
      if (!may_go(first_of(left), state.tick)) continue;
      const State after = {state.tick, state.there & ~(left & -left)};
      if (is_hopeful(after)) reach(after, seconds, {}, state);
    }
  }

  std::vector<Action> write(const State& end, const State& start) const {
    std::vector<State> states{end};
    while (!(states.back() == start)) states.push_back(visits_.at(states.back()).from);
    std::reverse(states.begin(), states.end());
    std::vector<Action> actions;
    for (std::size_t i = 1; i < states.size(); ++i) {
      const State& from = states[i - 1];
      const State& to = states[i];
      const Way& way = visits_.at(to).way;
      Values gone = from.there & ~to.there;
      if (way.kind == Way::Kind::kReplay) {
        actions.emplace_back(Run{way.op, lives_.op_at(to.tick)});
        gone |= ops_[way.op.slot()].replay_results & ~to.there;
      } else if (way.kind == Way::Kind::kGoOn) {
        gone |= ops_[way.op.slot()].results & ~to.there;
      }
      for (; gone != 0; gone &= gone - 1) {
        const ValueId value = first_of(gone);
        const bool is_said = way.kind == Way::Kind::kDrop || lives_.of(value).exists_at(to.tick);
        if (is_said) actions.emplace_back(Drop{value, lives_.op_at(to.tick), Drop::Side::kBefore});
      }
    }
    add_holds(states, actions);
    return actions;
  }

  // One for each stretch of ticks out of which a value is kept, or in whose prelude it is there,
  // though its natural life is over.
  void add_holds(const std::vector<State>& states, std::vector<Action>& actions) const {
    std::vector<Values> held(slot(lives_.end()) + 1, 0);
    for (std::size_t i = 0; i < states.size(); ++i) {
      for (Values left = states[i].there; left != 0; left &= left - 1) {
        const Tick dies = lives_.of(first_of(left)).dies;
        const Tick tick = states[i].tick;
        if (dies < tick) held[slot(tick)] |= left & -left;
        const bool is_new = i == 0 || states[i - 1].tick < tick;
        if (is_new && tick > 0 && dies <= tick - 1) held[slot(tick - 1)] |= left & -left;
      }
    }
    for (std::size_t i = 0; i < step_.trace.values().size(); ++i) {
      const auto value = make_id<ValueId>(i);
      for (Tick tick = 0; tick <= lives_.end(); ++tick) {
        if ((held[slot(tick)] & bit(value)) == 0) continue;
        const Tick first = tick;
        while (tick < lives_.end() && (held[slot(tick + 1)] & bit(value)) != 0) ++tick;
        actions.emplace_back(Hold{value, lives_.op_at(tick), lives_.op_at(first)});
      }
    }
  }

  const TideStep& step_;
  const trace::Lifetimes& lives_;
  double host_share_;
  std::size_t most_states_;
  std::vector<OpSets> ops_;
  Values outliving_ = 0;
  // By tick.
  std::vector<Values> useful_;
  std::unordered_map<State, Visit, StateHash> visits_;
  std::priority_queue<Entry> queue_;
};

}  // namespace

std::optional<std::vector<Action>> cheapest_replays(const TideStep& step, double host_share,
                                                    std::size_t most_states) {
  if (step.trace.values().size() > kMostValues) return std::nullopt;
  return Search(step, host_share, most_states).run();
}

}  // namespace lowtide::policy
