// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/stay_writer.h"

#include <algorithm>

#include "base/grouped.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

// Walks through the step once, tick by tick, keeping books of what is there.
class Writer {
 public:
  Writer(const Trace& trace, const trace::Lifetimes& lifetimes, const StayDecisions& decisions,
         std::int64_t max_replays)
      : trace_(trace),
        lifetimes_(lifetimes),
        leaves_(decisions.leaves),
        replays_left_(max_replays),
        is_there_(trace.values().size(), false),
        last_reader_(trace.values().size(), -1),
        fresh_at_(trace.values().size(), -1),
        replayed_at_(trace.ops().size(), -1),
        swaps_(decisions.swaps),
        away_(trace.values().size()) {
    sort_stays(decisions.stays);
    sort_swaps();
    for (std::size_t i = 0; i < trace.values().size() && trace.values()[i].is_source(); ++i) {
      is_there_[i] = true;
    }
  }

  std::optional<std::vector<Action>> write() {
    for (tick_ = 0; tick_ <= lifetimes_.end(); ++tick_) {
      issue_fetches();
      if (!replay_missing()) return std::nullopt;
      let_go_before();
      if (tick_ < lifetimes_.end()) run_op();
    }
    return std::move(actions_);
  }

 private:
  static std::size_t slot(Tick tick) { return static_cast<std::size_t>(tick); }
  OpId op_at(Tick tick) const { return lifetimes_.op_at(tick); }
  // Whether the program has it before and after this tick's op, or up to it.
  bool is_alive(ValueId value) const {
    const trace::Lifetime& life = lifetimes_.of(value);
    return life.born < tick_ && tick_ <= life.dies;
  }

  // Joins what overlaps, and notes where stays begin and end.
  void sort_stays(std::vector<Stay> stays) {
    std::sort(stays.begin(), stays.end(), [](const Stay& a, const Stay& b) {
      return a.value != b.value ? a.value < b.value : a.from < b.from;
    });
    base::Grouped<Stay>::Items joined;
    for (const Stay& stay : stays) {
      const bool overlaps = !joined.empty() && joined.back().second.value == stay.value &&
                            joined.back().second.to >= stay.from;
      if (overlaps) {
        Tick& to = joined.back().second.to;
        to = std::max(to, stay.to);
      } else {
        joined.emplace_back(stay.value.slot(), stay);
      }
    }
    stays_ = base::Grouped<Stay>(trace_.values().size(), joined);
    base::Grouped<ValueId>::Items begins;
    base::Grouped<ValueId>::Items ends;
    for (const auto& [value, stay] : joined) {
      const Tick dies = lifetimes_.of(stay.value).dies;
      if (stay.from > lifetimes_.of(stay.value).born) {
        begins.emplace_back(slot(stay.from), stay.value);
      }
      ends.emplace_back(slot(stay.to), stay.value);
      if (stay.to > dies) {
        actions_.emplace_back(Hold{stay.value, op_at(stay.to), op_at(std::max(stay.from, dies))});
      }
    }
    begins_at_ = base::Grouped<ValueId>(slot(lifetimes_.end()) + 1, begins);
    ends_at_ = base::Grouped<ValueId>(slot(lifetimes_.end()) + 1, ends);
    current_stay_.assign(trace_.values().size(), 0);
  }

  void sort_swaps() {
    base::Grouped<std::size_t>::Items moves;
    base::Grouped<std::size_t>::Items issues;
    for (std::size_t i = 0; i < swaps_.size(); ++i) {
      moves.emplace_back(slot(swaps_[i].after), i);
      issues.emplace_back(slot(swaps_[i].issue), i);
      away_[swaps_[i].value.slot()].swap = static_cast<std::int32_t>(i);
    }
    moves_at_ = base::Grouped<std::size_t>(slot(lifetimes_.end()) + 1, moves);
    issues_at_ = base::Grouped<std::size_t>(slot(lifetimes_.end()) + 1, issues);
  }

  void issue_fetches() {
    for (const std::size_t index : issues_at_[slot(tick_)]) {
      const SwapDecision& swap = swaps_[index];
      if (away_[swap.value.slot()].is_in_tier) fetch(swap.value, swap.need);
    }
  }

  void fetch(ValueId value, Tick need) {
    Away& away = away_[value.slot()];
    away.is_in_tier = false;
    away.fetch = static_cast<std::int32_t>(actions_.size());
    actions_.emplace_back(Fetch{value, op_at(tick_), op_at(need)});
  }

  // If it is in a tier or on its way, it is there from this tick on.
  void bring_back(ValueId value) {
    Away& away = away_[value.slot()];
    if (away.is_in_tier) fetch(value, tick_);
    if (away.fetch < 0) return;
    std::get<Fetch>(actions_[static_cast<std::size_t>(away.fetch)]).needed_by = op_at(tick_);
    away.fetch = -1;
    is_there_[value.slot()] = true;
  }

  // Whether it is to be moved after this tick, or came back before it was due.
  bool is_between_stays(ValueId value) const {
    const std::int32_t swap = away_[value.slot()].swap;
    if (swap < 0) return false;
    const SwapDecision& between = swaps_[static_cast<std::size_t>(swap)];
    return between.after <= tick_ && tick_ < between.need;
  }

  // The stay that covers this tick, if there is one.
  const Stay* stay_of(ValueId value) {
    const std::span<const Stay> stays = stays_[value.slot()];
    std::uint32_t& current = current_stay_[value.slot()];
    while (current < stays.size() && stays[current].to < tick_) ++current;
    const bool covers = current < stays.size() && stays[current].from <= tick_;
    return covers ? &stays[current] : nullptr;
  }

  // Whether it is to be there after this tick.
  bool stays_on(ValueId value) {
    const Stay* stay = stay_of(value);
    if ((stay != nullptr && stay->to > tick_) || is_between_stays(value)) return true;
    return !leaves_[value.slot()] && lifetimes_.of(value).dies > tick_ && is_alive_or_made(value);
  }
  bool is_alive_or_made(ValueId value) const { return lifetimes_.of(value).exists_at(tick_); }

  // Finds the ops to replay so that everything this tick needs is there, and replays them.
  bool replay_missing() {
    closure_.clear();
    if (!want_all()) return false;
    for (std::size_t i = 0; i < closure_.size(); ++i) {
      for (const Use& read : trace_.reads(op_at(closure_[i]))) {
        if (!read.side_effect && !want(read.value)) return false;
      }
    }
    replays_left_ -= static_cast<std::int64_t>(closure_.size());
    if (replays_left_ < 0) return false;
    std::sort(closure_.begin(), closure_.end());
    find_last_readers();
    for (const Tick replayed : closure_) replay(replayed);
    return true;
  }

  bool want_all() {
    for (const ValueId value : begins_at_[slot(tick_)]) {
      if (!want(value)) return false;
    }
    if (tick_ == lifetimes_.end()) {
      for (const ValueId value : lifetimes_.deaths(tick_)) {
        if (!want(value)) return false;
      }
      return true;
    }
    for (const Use& read : trace_.reads(op_at(tick_))) {
      if (!want(read.value)) return false;
    }
    return true;
  }

  // Its producer joins the ops to replay if need be. False if that cannot be.
  bool want(ValueId value) {
    bring_back(value);
    if (is_there_[value.slot()]) return true;
    const OpId producer = trace_.value(value).producer;
    if (!producer.valid() || !trace_.is_replayable(producer)) return false;
    if (lifetimes_.tick_of(producer) >= tick_) return false;
    Tick& replayed = replayed_at_[producer.slot()];
    if (replayed == tick_) return true;
    replayed = tick_;
    closure_.push_back(lifetimes_.tick_of(producer));
    return true;
  }

  // For each value that the replays of this tick read or make, the last of them that reads it; for
  // what the op itself or the end of the step needs, this tick.
  void find_last_readers() {
    for (const Tick replayed : closure_) {
      for (const Use& write : trace_.writes(op_at(replayed))) {
        last_reader_[write.value.slot()] = -1;
      }
    }
    for (const Tick replayed : closure_) {
      for (const Use& read : trace_.reads(op_at(replayed))) {
        if (!read.side_effect) last_reader_[read.value.slot()] = replayed;
      }
    }
    if (tick_ == lifetimes_.end()) {
      for (const ValueId value : lifetimes_.deaths(tick_)) last_reader_[value.slot()] = tick_;
    } else {
      for (const Use& read : trace_.reads(op_at(tick_))) last_reader_[read.value.slot()] = tick_;
    }
  }

  void replay(Tick replayed) {
    const OpId id = op_at(replayed);
    actions_.emplace_back(Run{id, op_at(tick_)});
    fresh_.clear();
    for (const Use& write : trace_.writes(id)) {
      const Away& away = away_[write.value.slot()];
      const bool is_somewhere = is_there_[write.value.slot()] || away.is_in_tier || away.fetch >= 0;
      if (write.side_effect || is_somewhere) continue;
      is_there_[write.value.slot()] = true;
      fresh_at_[write.value.slot()] = tick_;
      fresh_.push_back(write.value);
    }
    for (const ValueId value : fresh_) settle(value, replayed);
    for (const Use& read : trace_.reads(id)) {
      if (!read.side_effect) settle(read.value, replayed);
    }
  }

  // Lets go of a value after the last replay of this tick that reads it, if neither the op nor
  // anyone later should find it there. A run lets go by itself of what is nobody's any more.
  void settle(ValueId value, Tick replayed) {
    if (!is_there_[value.slot()] || last_reader_[value.slot()] > replayed || stays_on(value))
      return;
    const bool is_fresh = fresh_at_[value.slot()] == tick_;
    if (!is_fresh && !leaves_[value.slot()]) return;
    is_there_[value.slot()] = false;
    if (is_alive(value) || stay_of(value) != nullptr) {
      actions_.emplace_back(Drop{value, op_at(tick_), Drop::Side::kBefore});
    }
  }

  // What was to stay until this tick, in which nothing reads it.
  void let_go_before() {
    if (tick_ == lifetimes_.end()) return;
    for (const Use& read : trace_.reads(op_at(tick_))) last_reader_[read.value.slot()] = tick_;
    for (const ValueId value : ends_at_[slot(tick_)]) {
      const bool is_made_now = lifetimes_.of(value).born == tick_;
      if (leaves_[value.slot()] && !is_made_now) settle(value, tick_ - 1);
    }
  }

  void run_op() {
    const OpId id = op_at(tick_);
    for (const Use& write : trace_.writes(id)) is_there_[write.value.slot()] = true;
    for (const ValueId dead : lifetimes_.deaths(tick_)) {
      if (!stays_on(dead)) is_there_[dead.slot()] = false;
    }
    for (const std::size_t index : moves_at_[slot(tick_)]) start_move(swaps_[index]);
    for (const ValueId value : ends_at_[slot(tick_)]) let_go_after(value);
    for (const Use& read : trace_.reads(id)) let_go_after(read.value);
    for (const Use& write : trace_.writes(id)) let_go_after(write.value);
  }

  void start_move(const SwapDecision& swap) {
    if (!is_there_[swap.value.slot()]) return;
    is_there_[swap.value.slot()] = false;
    away_[swap.value.slot()].is_in_tier = true;
    actions_.emplace_back(Move{swap.value, swap.tier, op_at(tick_), ""});
  }

  void let_go_after(ValueId value) {
    if (!is_there_[value.slot()] || stays_on(value)) return;
    is_there_[value.slot()] = false;
    // The rest goes by itself: its life or its hold ends here.
    if (lifetimes_.of(value).dies > tick_) {
      actions_.emplace_back(Drop{value, op_at(tick_), Drop::Side::kAfter});
    }
  }

  const Trace& trace_;
  const trace::Lifetimes& lifetimes_;
  const std::vector<bool>& leaves_;
  std::int64_t replays_left_;

  // By value; in order of time and apart from one another.
  base::Grouped<Stay> stays_;
  // By value: the first of its stays that does not end before this tick.
  std::vector<std::uint32_t> current_stay_;
  // By tick: which values have to be there from then on although nothing makes them then, and whose
  // stays end.
  base::Grouped<ValueId> begins_at_;
  base::Grouped<ValueId> ends_at_;

  std::vector<bool> is_there_;
  std::vector<Tick> last_reader_;
  // By value: the tick in which a replay brought it back last.
  std::vector<Tick> fresh_at_;
  // By op: the tick whose prelude replays it.
  std::vector<Tick> replayed_at_;

  // A value that is moved: its entry in swaps_, whether it is in the tier, and the action that
  // fetches it while it is on its way.
  struct Away {
    std::int32_t swap = -1;
    std::int32_t fetch = -1;
    bool is_in_tier = false;
  };
  const std::vector<SwapDecision>& swaps_;
  std::vector<Away> away_;
  base::Grouped<std::size_t> moves_at_;
  base::Grouped<std::size_t> issues_at_;

  Tick tick_ = 0;
  // Ticks of the ops that this tick replays.
  std::vector<Tick> closure_;
  std::vector<ValueId> fresh_;
  std::vector<Action> actions_;
};

}  // namespace

std::optional<std::vector<Action>> write_stays(const Trace& trace,
                                               const trace::Lifetimes& lifetimes,
                                               const StayDecisions& decisions,
                                               std::int64_t max_replays) {
  return Writer(trace, lifetimes, decisions, max_replays).write();
}

}  // namespace lowtide::policy
