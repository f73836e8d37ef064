// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/tide_run.h"

#include <algorithm>
#include <deque>
#include <unordered_set>

#include "base/grouped.h"
#include "policy/hybrid/replay_prices.h"
#include "policy/hybrid/victim_heap.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

constexpr double kMaxReplaysPerOp = 8;

enum class Where : std::uint8_t { kNowhere, kDevice, kIncoming, kTier };

class Runner {
 public:
  Runner(const TideStep& step, const TideWeights& weights, const std::vector<SwapDecision>& swaps,
         double max_extra_seconds)
      : step_(step),
        trace_(step.trace),
        lifetimes_(step.lifetimes),
        costs_(step.costs),
        weights_(weights),
        swaps_(swaps),
        prices_(step, weights.shared, weights.host_share),
        large_([this](ValueId value) { return score(value); }),
        small_([this](ValueId value) { return score(value); }),
        values_(trace_.values().size()),
        max_extra_seconds_(max_extra_seconds),
        max_replays_(static_cast<std::int64_t>(
            kMaxReplaysPerOp * static_cast<double>(trace_.ops().size()) + 100)) {
    sort_decisions();
    horizon_seconds_ = weights.horizon * step.clock.end(lifetimes_.end());
    for (std::size_t i = 0; i < trace_.values().size() && trace_.values()[i].is_source(); ++i) {
      appear(make_id<ValueId>(i));
    }
  }

  std::optional<TideRun> run() {
    if (used_bytes_ > budget()) return std::nullopt;
    for (tick_ = 0; tick_ < lifetimes_.end(); ++tick_) {
      if (!run_tick()) return std::nullopt;
    }
    begin_tick();
    if (!return_survivors()) return std::nullopt;
    close_holds();
    return std::move(result_);
  }

 private:
  struct State {
    Where where = Where::kNowhere;
    // How many ops under way need it to stay.
    std::int32_t locks = 0;
    // Since when it has been kept past its natural death; -1 if it is not.
    Tick kept_from = -1;
    // For a source that is held: the last tick for which it is.
    Tick held_until = -1;
    // Index of the Fetch under way.
    std::int32_t fetch = -1;
  };
  // A copy on its way out; its bytes go when it ends.
  struct Leaving {
    double end_seconds = 0;
    std::int64_t bytes = 0;
  };
  // One replay that waits for its inputs.
  struct Frame {
    OpId op;
    std::size_t next_read = 0;
  };

  std::size_t ticks() const { return static_cast<std::size_t>(lifetimes_.end()) + 2; }
  std::int64_t budget() const { return step_.problem.budget_bytes; }
  State& state(ValueId value) { return values_[value.slot()]; }
  bool is_on_device(ValueId value) { return state(value).where == Where::kDevice; }
  OpId here() const { return lifetimes_.op_at(tick_); }
  bool is_alive(ValueId value) const {
    const trace::Lifetime& life = lifetimes_.of(value);
    return life.born < tick_ && tick_ <= life.dies;
  }
  double now_seconds() const { return step_.clock.start(tick_) + extra_seconds_; }

  void sort_decisions() {
    base::Grouped<std::size_t>::Items moves;
    base::Grouped<std::size_t>::Items issues;
    base::Grouped<ValueId>::Items waits;
    for (std::size_t i = 0; i < swaps_.size(); ++i) {
      moves.emplace_back(static_cast<std::size_t>(swaps_[i].after), i);
      issues.emplace_back(static_cast<std::size_t>(swaps_[i].issue), i);
      waits.emplace_back(static_cast<std::size_t>(swaps_[i].need), swaps_[i].value);
    }
    moves_at_ = base::Grouped<std::size_t>(ticks(), moves);
    issues_at_ = base::Grouped<std::size_t>(ticks(), issues);
    waits_at_ = base::Grouped<ValueId>(ticks(), waits);
    base::Grouped<ValueId>::Items hold_ends;
    for (const plan::ExtendedLife& hold : step_.holds) {
      state(hold.value).held_until = hold.until;
      hold_ends.emplace_back(static_cast<std::size_t>(hold.until), hold.value);
      result_.actions.emplace_back(Hold{hold.value, lifetimes_.op_at(hold.until),
                                        lifetimes_.op_at(lifetimes_.of(hold.value).dies)});
    }
    hold_ends_at_ = base::Grouped<ValueId>(ticks(), hold_ends);
  }

  // Lowest goes first.
  double score(ValueId value) {
    const Tick need = prices_.next_need(value, next_tick_);
    if (need >= step_.never()) return 0;
    const double idle =
        std::min(step_.clock.start(need) - step_.clock.start(next_tick_) + 1e-7, horizon_seconds_);
    const double price =
        weights_.prices.empty() ? 1 : static_cast<double>(weights_.prices[value.slot()]);
    return price * (prices_.seconds(value, next_tick_) + 1e-9) /
           (static_cast<double>(costs_.value(value)) * idle);
  }

  VictimHeap& heap_of(ValueId value) {
    return costs_.value(value) < step_.small_bytes ? small_ : large_;
  }

  bool is_candidate(ValueId value) {
    const State& s = state(value);
    return s.where == Where::kDevice && s.locks == 0;
  }

  void offer(ValueId value) {
    if (!is_candidate(value) || !step_.reach.can_drop(value) || costs_.value(value) == 0) return;
    if (!weights_.may_replay && step_.next_read(value, next_tick_) != step_.never()) return;
    heap_of(value).add(value);
  }

  void lock(ValueId value) { ++state(value).locks; }
  void unlock(ValueId value) {
    if (--state(value).locks == 0) offer(value);
  }

  void appear(ValueId value) {
    state(value).where = Where::kDevice;
    prices_.set_here(value, true);
    take_bytes(costs_.value(value));
    offer(value);
  }

  void take_bytes(std::int64_t bytes) {
    used_bytes_ += bytes;
    tick_peak_bytes_ = std::max(tick_peak_bytes_, used_bytes_);
  }

  void vanish(ValueId value) {
    State& s = state(value);
    if (s.where != Where::kTier) used_bytes_ -= costs_.value(value);
    s.where = Where::kNowhere;
    prices_.set_here(value, false);
  }

  void drop(ValueId value, Drop::Side side) {
    const bool is_dead = state(value).kept_from >= 0;
    if (is_dead) end_hold(value);
    vanish(value);
    // A hold that ends with this tick ends before the drops after its op.
    if (is_dead && side == Drop::Side::kAfter) return;
    result_.actions.emplace_back(Drop{value, here(), side});
  }

  void end_hold(ValueId value) {
    State& s = state(value);
    result_.actions.emplace_back(Hold{value, here(), lifetimes_.op_at(s.kept_from)});
    s.kept_from = -1;
    held_here_.insert(value);
  }

  std::optional<ValueId> find_victim() {
    const auto is_candidate_now = [this](ValueId value) { return is_candidate(value); };
    std::optional<ValueId> victim = large_.best(is_candidate_now);
    return victim ? victim : small_.best(is_candidate_now);
  }

  bool make_room(std::int64_t bytes, Drop::Side side) {
    settle_leaving();
    while (used_bytes_ + bytes > budget()) {
      const std::optional<ValueId> victim = find_victim();
      if (!victim && leaving_.empty()) return false;
      if (!victim || is_worth_waiting(*victim)) {
        if (victim) offer(*victim);
        extra_seconds_ += std::max(0.0, leaving_.front().end_seconds - now_seconds());
        settle_leaving();
        continue;
      }
      drop(*victim, side);
    }
    return true;
  }

  // Whether the first copy on its way out frees bytes more cheaply than a drop.
  bool is_worth_waiting(ValueId victim) {
    if (leaving_.empty()) return false;
    const Leaving& first = leaving_.front();
    return (first.end_seconds - now_seconds()) * static_cast<double>(costs_.value(victim)) <
           prices_.seconds(victim, next_tick_) * static_cast<double>(first.bytes);
  }

  void settle_leaving() {
    while (!leaving_.empty() && leaving_.front().end_seconds <= now_seconds() + 1e-12) {
      used_bytes_ -= leaving_.front().bytes;
      leaving_.pop_front();
    }
  }

  // Brings back every value in `reads` and locks it.
  bool prepare(std::span<const Use> reads) {
    for (const Use& read : reads) {
      if (is_on_device(read.value)) lock(read.value);
    }
    for (const Use& read : reads) {
      if (is_on_device(read.value) && state(read.value).locks > 0) continue;
      if (!bring_back(read.value)) return false;
      lock(read.value);
    }
    return true;
  }

  bool bring_back(ValueId value) {
    if (is_on_device(value)) return true;
    if (state(value).where == Where::kNowhere) return compute_again(value);
    return hurry(value);
  }

  // Makes a value that lies in a tier, or is on its way, readable in this tick. A fetch takes its
  // bytes before anything that the prelude lets go of has gone.
  bool hurry(ValueId value) {
    State& s = state(value);
    result_.early_needs.emplace_back(value, tick_);
    if (s.where == Where::kTier) {
      const std::int64_t bytes = costs_.value(value);
      if (tick_peak_bytes_ + bytes > budget()) result_.is_valid = false;
      if (!make_room(bytes, Drop::Side::kBefore)) return false;
      tick_peak_bytes_ += bytes;
      start_fetch(value, tick_);
    }
    s.where = Where::kDevice;
    std::get<Fetch>(result_.actions[static_cast<std::size_t>(s.fetch)]).needed_by = here();
    return true;
  }

  void start_fetch(ValueId value, Tick need) {
    State& s = state(value);
    s.fetch = static_cast<std::int32_t>(result_.actions.size());
    result_.actions.emplace_back(Fetch{value, here(), lifetimes_.op_at(need)});
    take_bytes(costs_.value(value));
    s.where = Where::kIncoming;
  }

  // Replays the producer of a value, and first those of its inputs that are nowhere, deepest first.
  bool compute_again(ValueId value) {
    std::vector<Frame> frames{Frame{trace_.value(value).producer}};
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (!frame.op.valid() || !trace_.is_replayable(frame.op)) return false;
      const std::span<const Use> reads = trace_.reads(frame.op);
      OpId missing;
      bool is_missing = false;
      for (; frame.next_read < reads.size(); ++frame.next_read) {
        const Use& read = reads[frame.next_read];
        if (read.side_effect) continue;
        if (state(read.value).where == Where::kNowhere) {
          missing = trace_.value(read.value).producer;
          is_missing = true;
          break;
        }
        if (!bring_back(read.value)) return false;
        lock(read.value);
      }
      if (is_missing) {
        frames.push_back(Frame{missing});
        continue;
      }
      const OpId done = frame.op;
      if (!replay(done)) return false;
      frames.pop_back();
      settle_results(done, frames.empty() ? OpId{} : frames.back().op, value);
    }
    return true;
  }

  // Requires: all its inputs are locked.
  bool replay(OpId id) {
    std::int64_t bytes = costs_.workspace(id);
    for (const Use& write : trace_.writes(id)) bytes += costs_.value(write.value);
    if (!make_room(bytes, Drop::Side::kBefore)) return false;
    tick_peak_bytes_ = std::max(tick_peak_bytes_, used_bytes_ + bytes);
    if (++replays_ > max_replays_ || extra_seconds_ > max_extra_seconds_) return false;
    result_.actions.emplace_back(Run{id, here()});
    extra_seconds_ += costs_.op(id);
    return true;
  }

  // Decides what stays of a replay that just ran: what the program still has, and what the waiting
  // replay or op asked for. Then lets go of its inputs.
  void settle_results(OpId id, OpId waiting, ValueId target) {
    for (const Use& write : trace_.writes(id)) {
      if (write.side_effect || state(write.value).where != Where::kNowhere) continue;
      appear(write.value);
      if (is_alive(write.value)) continue;
      const bool asked_for =
          write.value == target || (waiting.valid() && reads(waiting, write.value));
      if (!asked_for) {
        let_go_early(write.value);
      } else if (weights_.keep_dead && step_.reach.can_drop(write.value)) {
        state(write.value).kept_from = tick_;
      }
    }
    for (const Use& read : trace_.reads(id)) {
      if (read.side_effect) continue;
      unlock(read.value);
      const State& s = state(read.value);
      const bool stays = is_alive(read.value) || s.kept_from >= 0 || s.held_until >= tick_;
      if (s.where == Where::kDevice && s.locks == 0 && !stays) let_go_early(read.value);
    }
  }

  bool reads(OpId id, ValueId value) const {
    const std::span<const Use> uses = trace_.reads(id);
    return std::any_of(uses.begin(), uses.end(),
                       [&](const Use& use) { return use.value == value && !use.side_effect; });
  }

  // A dead value that no waiting replay needs goes. By the meaning of a prelude it goes by itself
  // unless a later replay of this tick reads it again: then the plan must say so.
  void let_go_early(ValueId value) {
    vanish(value);
    early_.emplace_back(result_.actions.size(), value);
    result_.actions.emplace_back(Drop{value, here(), Drop::Side::kBefore});
  }

  // Takes out the drops of let_go_early that would happen by themselves. A value whose hold ends in
  // this very tick would stay to its end, so its drop is needed.
  void tidy_prelude(std::size_t first_action) {
    const std::unordered_set<ValueId> held_here = std::exchange(held_here_, {});
    if (early_.empty()) return;
    std::vector<Action>& actions = result_.actions;
    std::unordered_set<ValueId> read_later;
    std::vector<bool> superfluous(actions.size() - first_action, false);
    for (std::size_t i = actions.size(); i-- > first_action;) {
      if (const auto* run = std::get_if<Run>(&actions[i])) {
        for (const Use& read : trace_.reads(run->op)) {
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
    for (std::size_t i = first_action; i < actions.size(); ++i) {
      if (superfluous[i - first_action]) continue;
      if (const auto* fetch = std::get_if<Fetch>(&actions[i])) {
        state(fetch->value).fetch = static_cast<std::int32_t>(kept);
      }
      actions[kept++] = std::move(actions[i]);
    }
    actions.resize(kept, Action{Drop{}});
  }

  void begin_tick() {
    next_tick_ = tick_;
    tick_peak_bytes_ = used_bytes_;
    for (const std::size_t index : issues_at_[static_cast<std::size_t>(tick_)]) {
      const SwapDecision& swap = swaps_[index];
      // It may have come back already, for the sake of a replay, or never have left.
      if (state(swap.value).where == Where::kTier) start_fetch(swap.value, swap.need);
    }
    for (const ValueId value : waits_at_[static_cast<std::size_t>(tick_)]) {
      if (state(value).where == Where::kIncoming) state(value).where = Where::kDevice;
    }
  }

  bool run_tick() {
    const OpId id = here();
    begin_tick();
    const std::size_t first_action = result_.actions.size();
    if (!prepare(trace_.reads(id))) return false;
    if (!make_room(result_bytes(id), Drop::Side::kBefore)) return false;
    for (const Use& write : trace_.writes(id)) {
      if (const std::optional<ValueId> old = previous(write.value)) unlock(*old);
    }
    tidy_prelude(first_action);
    next_tick_ = tick_ + 1;
    for (const Use& write : trace_.writes(id)) replace_contents(write.value);
    for (const Use& read : trace_.reads(id)) unlock(read.value);
    release();
    held_here_.clear();
    return make_room_for_fetches();
  }

  void release() {
    for (const ValueId dead : lifetimes_.deaths(tick_)) {
      if (state(dead).where != Where::kNowhere && state(dead).held_until <= tick_) vanish(dead);
    }
    for (const ValueId held : hold_ends_at_[static_cast<std::size_t>(tick_)]) {
      if (is_on_device(held)) vanish(held);
    }
    for (const std::size_t index : moves_at_[static_cast<std::size_t>(tick_)]) start_move(index);
  }

  void start_move(std::size_t index) {
    const SwapDecision& swap = swaps_[index];
    if (!is_on_device(swap.value)) return;
    state(swap.value).where = Where::kTier;
    result_.actions.emplace_back(Move{swap.value, swap.tier, here(), ""});
    const double seconds = cost::write_seconds(step_.problem.machine.tier(swap.tier),
                                               trace_.storage_of(swap.value).bytes);
    const double start = step_.clock.end(tick_) + extra_seconds_;
    lane_free_seconds_ = std::max(lane_free_seconds_, start) + seconds;
    leaving_.push_back({lane_free_seconds_, costs_.value(swap.value)});
  }

  // A fetch takes its bytes before the prelude of its tick, so that room for it has to be made in
  // the tick before.
  bool make_room_for_fetches() {
    std::int64_t bytes = 0;
    for (const std::size_t index : issues_at_[static_cast<std::size_t>(tick_) + 1]) {
      const ValueId value = swaps_[index].value;
      if (state(value).where == Where::kTier) bytes += costs_.value(value);
    }
    return bytes == 0 || make_room(bytes, Drop::Side::kAfter);
  }

  // What an op takes besides its inputs: new results, workspace, and places of evicted values that
  // it overwrites. What is overwritten without being read must not be evicted to make room for
  // itself, so that it is locked here.
  std::int64_t result_bytes(OpId id) {
    std::int64_t bytes = costs_.workspace(id);
    for (const Use& write : trace_.writes(id)) {
      const std::optional<ValueId> old = previous(write.value);
      if (!old || !gives_up_place(*old)) bytes += costs_.value(write.value);
      if (old) lock(*old);
    }
    return bytes;
  }

  std::optional<ValueId> previous(ValueId value) const {
    const Value& v = trace_.value(value);
    if (v.version == 0) return std::nullopt;
    return trace_.versions(v.storage)[static_cast<std::size_t>(v.version) - 1];
  }

  bool gives_up_place(ValueId old) { return is_on_device(old) && state(old).held_until <= tick_; }

  void replace_contents(ValueId value) {
    const std::optional<ValueId> old = previous(value);
    if (old && gives_up_place(*old)) vanish(*old);
    appear(value);
  }

  // Values that outlive the step must be there when it ends.
  bool return_survivors() {
    const std::size_t first_action = result_.actions.size();
    for (const ValueId value : lifetimes_.deaths(lifetimes_.end())) {
      if (!bring_back(value)) return false;
      lock(value);
    }
    tidy_prelude(first_action);
    return true;
  }

  void close_holds() {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i].where == Where::kDevice && values_[i].kept_from >= 0) {
        end_hold(make_id<ValueId>(i));
      }
    }
  }

  const TideStep& step_;
  const Trace& trace_;
  const trace::Lifetimes& lifetimes_;
  const cost::CostTable& costs_;
  const TideWeights& weights_;
  const std::vector<SwapDecision>& swaps_;
  ReplayPrices prices_;
  VictimHeap large_;
  VictimHeap small_;
  std::vector<State> values_;
  double max_extra_seconds_;
  std::int64_t max_replays_;
  // By tick.
  base::Grouped<std::size_t> moves_at_;
  base::Grouped<std::size_t> issues_at_;
  base::Grouped<ValueId> waits_at_;
  base::Grouped<ValueId> hold_ends_at_;
  // Drops of the running tick that may be superfluous: index among the actions, value.
  std::vector<std::pair<std::size_t, ValueId>> early_;
  // Values whose hold ended in the running tick.
  std::unordered_set<ValueId> held_here_;
  // In the order in which they end.
  std::deque<Leaving> leaving_;
  double lane_free_seconds_ = 0;
  double horizon_seconds_ = 0;
  // Of replays and waits so far.
  double extra_seconds_ = 0;
  Tick tick_ = 0;
  // The first op that has not run yet.
  Tick next_tick_ = 0;
  // Leaving copies included.
  std::int64_t used_bytes_ = 0;
  std::int64_t tick_peak_bytes_ = 0;
  std::int64_t replays_ = 0;
  TideRun result_;
};

}  // namespace

std::optional<TideRun> run_tide(const TideStep& step, const TideWeights& weights,
                                const std::vector<SwapDecision>& swaps, double max_extra_seconds) {
  return Runner(step, weights, swaps, max_extra_seconds).run();
}

}  // namespace lowtide::policy
