// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/gap_writer.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/grouped.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

enum class Where : std::uint8_t { kNowhere, kDevice, kIncoming, kTier };

// Walks through the step once, tick by tick, keeping books of what is where.
class Writer {
 public:
  Writer(const Problem& problem, const trace::Lifetimes& lifetimes, const cost::CostTable& costs,
         const GapDecisions& decisions, std::int64_t max_replays, bool recording)
      : trace_(*problem.trace),
        lifetimes_(lifetimes),
        costs_(costs),
        decisions_(decisions),
        max_replays_(max_replays),
        recording_(recording),
        where_(trace_.values().size(), Where::kNowhere),
        held_until_(trace_.values().size(), -1),
        last_reader_(trace_.values().size(), -1),
        fresh_at_(trace_.values().size(), -1),
        // Nothing to look up there without swaps, nor below without ops on the host.
        fetch_of_(decisions.swaps.empty() ? 0 : trace_.values().size(), -1),
        swap_of_(decisions.swaps.empty() ? 0 : trace_.values().size(), -1),
        is_on_host_(decisions.on_host.empty() ? 0 : trace_.ops().size(), false),
        replayed_at_(trace_.ops().size(), -1) {
    // Most drops come with a replay and a second drop; growing by copying would cost as much as the
    // walk itself.
    if (recording) {
      result_.actions.reserve(3 * decisions.drops.size() + 3 * decisions.swaps.size());
    }
    result_.tick_bytes.reserve(ticks());
    sort_decisions();
    place_sources();
  }

  std::optional<WrittenPlan> write() {
    for (tick_ = 0; tick_ <= lifetimes_.end(); ++tick_) {
      tick_peak_ = used_;
      issue_fetches();
      if (!replay_missing()) return std::nullopt;
      if (tick_ < lifetimes_.end()) run_op();
      result_.tick_bytes.push_back(tick_peak_);
      result_.peak_bytes = std::max(result_.peak_bytes, tick_peak_);
    }
    result_.starts = decisions_.starts;
    return std::move(result_);
  }

 private:
  std::size_t ticks() const { return static_cast<std::size_t>(lifetimes_.end()) + 1; }
  static std::size_t slot(Tick tick) { return static_cast<std::size_t>(tick); }
  OpId op_at(Tick tick) const { return lifetimes_.op_at(tick); }
  Where& where(ValueId value) { return where_[value.slot()]; }
  bool is_on_host(OpId op) const { return !is_on_host_.empty() && is_on_host_[op.slot()]; }
  bool is_alive(ValueId value) const {
    const trace::Lifetime& life = lifetimes_.of(value);
    return life.born < tick_ && tick_ <= life.dies;
  }

  void sort_decisions() {
    base::Grouped<ValueId>::Items drops;
    for (const DropDecision& drop : decisions_.drops) {
      drops.emplace_back(slot(drop.after), drop.value);
    }
    drops_at_ = base::Grouped<ValueId>(ticks(), drops);
    sort_swaps();
    sort_holds();
    for (const Choose& choice : decisions_.on_host) {
      is_on_host_[choice.op.slot()] = true;
      record(choice);
    }
  }

  void sort_swaps() {
    base::Grouped<std::size_t>::Items moves;
    base::Grouped<std::size_t>::Items issues;
    base::Grouped<ValueId>::Items waits;
    for (std::size_t i = 0; i < decisions_.swaps.size(); ++i) {
      const SwapDecision& swap = decisions_.swaps[i];
      if (swap.after >= 0) {
        moves.emplace_back(slot(swap.after), i);
      } else {
        swap_of_[swap.value.slot()] = static_cast<std::int32_t>(i);
      }
      // A value that stays in its tier until the step ends has no way back to plan.
      if (swap.need > lifetimes_.end()) continue;
      issues.emplace_back(slot(swap.issue), i);
      waits.emplace_back(slot(swap.need), swap.value);
    }
    moves_at_ = base::Grouped<std::size_t>(ticks(), moves);
    issues_at_ = base::Grouped<std::size_t>(ticks(), issues);
    waits_at_ = base::Grouped<ValueId>(ticks(), waits);
  }

  void sort_holds() {
    for (const plan::ExtendedLife& hold : decisions_.holds) {
      Tick& until = held_until_[hold.value.slot()];
      until = std::max(until, hold.until);
    }
    base::Grouped<ValueId>::Items ends;
    for (const plan::ExtendedLife& hold : decisions_.holds) {
      const Tick dies = lifetimes_.of(hold.value).dies;
      // Of several holds on one value the longest counts.
      if (hold.until <= dies || hold.until < held_until_[hold.value.slot()]) continue;
      ends.emplace_back(slot(hold.until), hold.value);
      record(Hold{hold.value, op_at(hold.until), op_at(dies)});
    }
    hold_ends_at_ = base::Grouped<ValueId>(ticks(), ends);
  }

  void place_sources() {
    for (std::size_t i = 0; i < trace_.values().size() && trace_.values()[i].is_source(); ++i) {
      appear(make_id<ValueId>(i));
    }
    for (const StartsIn& start : decisions_.starts) {
      const ValueId value = trace_.versions(start.storage).front();
      vanish(value);
      where(value) = Where::kTier;
    }
  }

  template <class ActionType>
  void record(ActionType&& action) {
    if (recording_) result_.actions.emplace_back(std::forward<ActionType>(action));
  }

  void appear(ValueId value) {
    where(value) = Where::kDevice;
    used_ += costs_.value(value);
    tick_peak_ = std::max(tick_peak_, used_);
  }

  void vanish(ValueId value) {
    where(value) = Where::kNowhere;
    used_ -= costs_.value(value);
  }

  void issue_fetches() {
    for (const std::size_t index : issues_at_[slot(tick_)]) {
      const SwapDecision& swap = decisions_.swaps[index];
      // It may have come back already, for the sake of a replay.
      if (where(swap.value) != Where::kTier) continue;
      fetch(swap.value, swap.need);
    }
    for (const ValueId value : waits_at_[slot(tick_)]) {
      if (where(value) == Where::kIncoming) where(value) = Where::kDevice;
    }
  }

  void fetch(ValueId value, Tick need) {
    fetch_of_[value.slot()] = static_cast<std::int32_t>(result_.actions.size());
    record(Fetch{value, op_at(tick_), op_at(need)});
    appear(value);
    if (need > tick_) where(value) = Where::kIncoming;
  }

  // Makes a value that lies in a tier, or is on its way, readable in this tick.
  void hurry(ValueId value) {
    if (where(value) == Where::kTier) {
      fetch(value, tick_);
      hurried_.push_back(value);
    }
    if (where(value) != Where::kIncoming) return;
    where(value) = Where::kDevice;
    if (!recording_) return;
    auto& action = result_.actions[static_cast<std::size_t>(fetch_of_[value.slot()])];
    std::get<Fetch>(action).needed_by = op_at(tick_);
  }

  // Finds the ops to replay so that everything this tick reads is on the device, and replays them.
  bool replay_missing() {
    closure_.clear();
    if (tick_ < lifetimes_.end()) {
      if (is_on_host(op_at(tick_))) return true;
      for (const Use& read : trace_.reads(op_at(tick_))) {
        if (!want(read.value)) return false;
      }
    } else if (!want_survivors()) {
      return false;
    }
    for (std::size_t i = 0; i < closure_.size(); ++i) {
      for (const Use& read : trace_.reads(op_at(closure_[i]))) {
        if (!read.side_effect && !want(read.value)) return false;
      }
    }
    if (closure_.empty()) return true;
    std::sort(closure_.begin(), closure_.end());
    result_.replays += static_cast<std::int64_t>(closure_.size());
    if (result_.replays > max_replays_) return false;
    find_last_readers();
    for (const Tick replayed : closure_) replay(replayed);
    return true;
  }

  bool want_survivors() {
    for (const ValueId value : lifetimes_.deaths(lifetimes_.end())) {
      if (where(value) != Where::kTier && !want(value)) return false;
    }
    return true;
  }

  // Sees to it that the value will be on the device when this tick's op runs: its producer joins
  // the ops to replay if need be. False if that cannot be.
  bool want(ValueId value) {
    if (where(value) == Where::kTier || where(value) == Where::kIncoming) hurry(value);
    if (where(value) == Where::kDevice) return true;
    const OpId producer = trace_.value(value).producer;
    if (!producer.valid() || !trace_.is_replayable(producer)) return false;
    Tick& replayed = replayed_at_[producer.slot()];
    if (replayed == tick_) return true;
    replayed = tick_;
    closure_.push_back(lifetimes_.tick_of(producer));
    return true;
  }

  // For each value that the replays of this tick read, the last of them that does; for what the op
  // itself reads, the op.
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
    if (tick_ == lifetimes_.end()) return;
    for (const Use& read : trace_.reads(op_at(tick_))) last_reader_[read.value.slot()] = tick_;
  }

  void replay(Tick replayed) {
    const OpId id = op_at(replayed);
    record(Run{id, op_at(tick_)});
    result_.replay_seconds += costs_.op(id);
    std::int64_t extra = costs_.workspace(id);
    for (const Use& write : trace_.writes(id)) extra += costs_.value(write.value);
    tick_peak_ = std::max(tick_peak_, used_ + extra);
    fresh_.clear();
    for (const Use& write : trace_.writes(id)) {
      if (write.side_effect || where(write.value) != Where::kNowhere) continue;
      appear(write.value);
      fresh_.push_back(write.value);
      fresh_at_[write.value.slot()] = tick_;
    }
    for (const ValueId value : fresh_) settle(value, replayed);
    for (const Use& read : trace_.reads(id)) {
      if (!read.side_effect && is_fresh(read.value)) settle(read.value, replayed);
    }
  }

  // Whether a replay of this tick brought it back. What never left stays, also where a replay made
  // it once more beside a sibling that was gone.
  bool is_fresh(ValueId value) const { return fresh_at_[value.slot()] == tick_; }

  // Lets go of a replayed value if the replays of this tick are through with it and neither the op
  // nor anyone later should find it there.
  void settle(ValueId value, Tick replayed) {
    if (where(value) != Where::kDevice || last_reader_[value.slot()] > replayed) return;
    if (!is_alive(value)) {
      if (held_until_[value.slot()] < tick_) vanish(value);
      return;
    }
    if (lifetimes_.of(value).at_end && tick_ == lifetimes_.end()) return;
    if (decisions_.keep_replayed &&
        decisions_.keep_replayed(value, closure_.front(), closure_.back())) {
      return;
    }
    vanish(value);
    record(Drop{value, op_at(tick_), Drop::Side::kBefore});
  }

  void run_op() {
    const OpId id = op_at(tick_);
    if (is_on_host(id)) {
      for (const Use& write : trace_.writes(id)) where(write.value) = Where::kTier;
    } else {
      for (const Use& write : trace_.writes(id)) take_place(write.value);
      tick_peak_ = std::max(tick_peak_, used_ + costs_.workspace(id));
    }
    for (const ValueId dead : lifetimes_.deaths(tick_)) {
      if (held_until_[dead.slot()] > tick_) continue;
      forget(dead);
    }
    for (const ValueId value : hold_ends_at_[slot(tick_)]) forget(value);
    for (const ValueId value : drops_at_[slot(tick_)]) {
      if (where(value) != Where::kDevice) continue;
      vanish(value);
      record(Drop{value, op_at(tick_), Drop::Side::kAfter});
    }
    for (const std::size_t index : moves_at_[slot(tick_)]) start_move(index);
    return_hurried();
  }

  // Values that came back early for the sake of a replay leave again, if they were not due yet.
  void return_hurried() {
    for (const ValueId value : hurried_) {
      const std::int32_t index = swap_of_[value.slot()];
      if (index < 0 || decisions_.swaps[static_cast<std::size_t>(index)].need <= tick_) continue;
      start_move(static_cast<std::size_t>(index));
    }
    hurried_.clear();
  }

  // A result takes over the bytes of what it overwrites, unless that is held or not there.
  void take_place(ValueId value) {
    const Value& v = trace_.value(value);
    if (v.version > 0) {
      const ValueId old = trace_.versions(v.storage)[static_cast<std::size_t>(v.version) - 1];
      if (where(old) == Where::kDevice && held_until_[old.slot()] <= tick_) vanish(old);
    }
    appear(value);
  }

  void forget(ValueId value) {
    if (where(value) == Where::kDevice || where(value) == Where::kIncoming) {
      vanish(value);
    } else {
      where(value) = Where::kNowhere;
    }
  }

  void start_move(std::size_t index) {
    const SwapDecision& swap = decisions_.swaps[index];
    if (where(swap.value) != Where::kDevice) return;
    vanish(swap.value);
    where(swap.value) = Where::kTier;
    swap_of_[swap.value.slot()] = static_cast<std::int32_t>(index);
    record(Move{swap.value, swap.tier, op_at(tick_), ""});
  }

  const Trace& trace_;
  const trace::Lifetimes& lifetimes_;
  const cost::CostTable& costs_;
  const GapDecisions& decisions_;
  std::int64_t max_replays_;
  bool recording_;

  std::vector<Where> where_;
  std::vector<Tick> held_until_;
  std::vector<Tick> last_reader_;
  // By value: the tick in which a replay brought it back last.
  std::vector<Tick> fresh_at_;
  // Index of the Fetch action under way for a value.
  std::vector<std::int32_t> fetch_of_;
  // The swap under which a value left last.
  std::vector<std::int32_t> swap_of_;
  std::vector<ValueId> hurried_;
  // By op.
  std::vector<bool> is_on_host_;
  // By op: the tick whose prelude replays it.
  std::vector<Tick> replayed_at_;
  // By tick.
  base::Grouped<ValueId> drops_at_;
  base::Grouped<std::size_t> moves_at_;
  base::Grouped<std::size_t> issues_at_;
  base::Grouped<ValueId> waits_at_;
  base::Grouped<ValueId> hold_ends_at_;

  Tick tick_ = 0;
  std::int64_t used_ = 0;
  std::int64_t tick_peak_ = 0;
  // Ticks of the ops that this tick replays.
  std::vector<Tick> closure_;
  std::vector<ValueId> fresh_;
  WrittenPlan result_;
};

}  // namespace

std::optional<WrittenPlan> write_gaps(const Problem& problem, const trace::Lifetimes& lifetimes,
                                      const cost::CostTable& costs, const GapDecisions& decisions,
                                      std::int64_t max_replays) {
  return Writer(problem, lifetimes, costs, decisions, max_replays, /*recording=*/true).write();
}

WrittenPlan write_moves(const Problem& problem, const trace::Lifetimes& lifetimes,
                        const cost::CostTable& costs, const GapDecisions& moves) {
  std::optional<WrittenPlan> written = write_gaps(problem, lifetimes, costs, moves, 0);
  LT_CHECK(written, "everything that was moved can be brought back");
  return *std::move(written);
}

std::optional<WrittenPlan> weigh_gaps(const Problem& problem, const trace::Lifetimes& lifetimes,
                                      const cost::CostTable& costs, const GapDecisions& decisions,
                                      std::int64_t max_replays) {
  return Writer(problem, lifetimes, costs, decisions, max_replays, /*recording=*/false).write();
}

Plan finish_plan(const Problem& problem, std::string policy, WrittenPlan written) {
  Plan plan;
  plan.policy = std::move(policy);
  plan.trace_digest = digest(*problem.trace);
  plan.budget_bytes = problem.budget_bytes;
  plan.starts = std::move(written.starts);
  plan.actions = std::move(written.actions);
  return plan;
}

}  // namespace lowtide::policy
