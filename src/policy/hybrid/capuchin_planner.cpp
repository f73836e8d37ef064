// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/capuchin_planner.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "policy/hybrid/capuchin_step.h"
#include "policy/hybrid/copy_lane.h"
#include "sim/simulation.h"
#include "solve/range_max.h"
#include "solve/stab_index.h"
#include "solve/waiting_intervals.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

// A replay that would take more ops than this is no candidate: it keeps planning near-linear, and
// such chains never pay.
constexpr std::size_t kLongestReplay = 512;
constexpr int kMaxRounds = 40;
constexpr double kNever = std::numeric_limits<double>::infinity();

struct SwapSlots {
  CopyLane::Slot out;
  CopyLane::Slot in;
  Tick issue = 0;
};

// What it would cost to do without a value over its gap.
struct Offer {
  double drop_seconds = kNever;
  double swap_seconds = kNever;
  SwapSlots slots;

  double seconds() const { return std::min(drop_seconds, swap_seconds); }
};

// A gap in which a value is dropped, and the one before it in the list of its value, -1 if none.
struct DroppedGap {
  std::int32_t candidate = -1;
  std::int32_t previous = -1;
};

class Planner {
 public:
  Planner(const Problem& problem, const CapuchinOptions& options, const CapuchinStep& step,
          bool as_published)
      : problem_(problem),
        trace_(*problem.trace),
        options_(options),
        step_(step),
        lifetimes_(step.lifetimes),
        costs_(step.costs),
        clock_(step.clock),
        candidates_(step.candidates),
        taken_(candidates_.size(), false),
        last_drop_(trace_.values().size(), -1),
        swap_of_(trace_.values().size(), -1),
        starts_from_(trace_.values().size()),
        as_published_(as_published),
        seen_(trace_.ops().size(), -1) {
    if (!problem.machine.tiers.empty()) host_left_ = problem.machine.tiers[0].capacity_bytes;
  }

  WrittenPlan plan() {
    WrittenPlan best = step_.plain;
    profile_.emplace(best.tick_bytes);
    to_save_ = best.peak_bytes - problem_.budget_bytes;
    if (to_save_ <= 0) return best;
    decisions_.holds = step_.holds;
    over_budget_before_.reserve(best.tick_bytes.size() + 1);
    over_budget_before_.assign(1, 0);
    for (const std::int64_t bytes : best.tick_bytes) {
      over_budget_before_.push_back(over_budget_before_.back() +
                                    (bytes > problem_.budget_bytes ? 1 : 0));
    }
    if (options_.may_swap) swap_hidden();
    for (int round = 0; round < kMaxRounds; ++round) {
      const bool progress = take_until_done() || round == 0;
      WrittenPlan written = write();
      const bool fits = written.peak_bytes <= problem_.budget_bytes;
      profile_.emplace(written.tick_bytes);
      if (fits || written.peak_bytes < best.peak_bytes) best = std::move(written);
      if (fits || !progress || !options_.until_fits) break;
      // From here on what counts is the plan as written, replays and all.
      as_published_ = false;
    }
    return best;
  }

  // Whether the first phase did it all: no replay, and no copy that compute does not hide.
  bool is_all_hidden() const { return !index_; }

 private:
  WrittenPlan write() const {
    const auto ops = static_cast<std::int64_t>(trace_.ops().size());
    std::optional<WrittenPlan> written =
        write_gaps(problem_, lifetimes_, costs_, decisions_, 64 * ops + 1000);
    // Only what ReplayReach allows is dropped; what is left is an explosion of replays, and then
    // the plain step is the honest answer.
    return written ? *std::move(written) : step_.plain;
  }

  double out_seconds(const GapCandidate& c) const {
    return cost::write_seconds(problem_.machine.tiers[0], c.copy_bytes);
  }
  double in_seconds(const GapCandidate& c) const {
    return cost::read_seconds(problem_.machine.tiers[0], c.copy_bytes);
  }

  bool can_swap(const GapCandidate& c) const {
    return options_.may_swap && !problem_.machine.tiers.empty() && c.is_longest &&
           c.copy_bytes <= host_left_;
  }

  // Slots in both lanes: out as early, in as late as possible, the way in after the way out and
  // after the tick for which the value is to be gone.
  SwapSlots find_slots(const GapCandidate& c, Tick gone_through) const {
    SwapSlots slots;
    slots.out = out_lane_.earliest(clock_.end(c.from), out_seconds(c));
    slots.in = in_lane_.latest(clock_.start(c.to), in_seconds(c));
    const double in_from = std::max(slots.out.end, clock_.end(gone_through));
    if (slots.in.start < in_from) slots.in = in_lane_.earliest(in_from, in_seconds(c));
    slots.issue = std::clamp(clock_.last_started_by(slots.in.start), gone_through + 1, c.to);
    return slots;
  }

  // First phase: swaps that nobody notices, the largest free time first.
  void swap_hidden() {
    for (const std::int32_t i : step_.by_free_time) {
      const GapCandidate& c = candidates_[static_cast<std::size_t>(i)];
      if (is_done()) return;
      if (!can_swap(c)) continue;
      const SwapSlots slots = find_slots(c, c.from);
      const Tick gone_from = clock_.first_starting_from(slots.out.end);
      if (slots.in.end > clock_.start(c.to) || !relieves(gone_from, slots.issue - 1)) continue;
      take_swap(c, slots, gone_from);
    }
  }

  bool relieves(Tick first, Tick last) const {
    return first <= last && over_budget_before_[static_cast<std::size_t>(last) + 1] >
                                over_budget_before_[static_cast<std::size_t>(first)];
  }

  bool is_done() const {
    return (as_published_ && to_save_ <= 0) || profile_->max() <= problem_.budget_bytes;
  }

  void save(const GapCandidate& c, Tick first, Tick last) {
    to_save_ -= c.bytes;
    if (first > last) return;
    profile_->add(static_cast<std::size_t>(first), static_cast<std::size_t>(last), -c.bytes);
  }

  std::size_t index_of(const GapCandidate& c) const {
    return static_cast<std::size_t>(&c - candidates_.data());
  }

  void take_swap(const GapCandidate& c, const SwapSlots& slots, Tick gone_from) {
    taken_[index_of(c)] = true;
    out_lane_.take(slots.out);
    in_lane_.take(slots.in);
    host_left_ -= c.copy_bytes;
    swap_of_[c.value.slot()] = static_cast<std::int32_t>(decisions_.swaps.size());
    decisions_.swaps.push_back({c.value, TierId{0}, c.from, slots.issue, c.to});
    save(c, gone_from, slots.issue - 1);
  }

  void take_drop(const GapCandidate& c) {
    taken_[index_of(c)] = true;
    std::int32_t& last = last_drop_[c.value.slot()];
    dropped_.push_back({static_cast<std::int32_t>(index_of(c)), last});
    last = static_cast<std::int32_t>(dropped_.size() - 1);
    decisions_.drops.push_back({c.value, c.from});
    save(c, c.from + 1, c.to - 1);
    const std::vector<Tick> repeats = repeated_at(c);
    if (c.is_last && repeats.empty()) return;
    find_replay(c);
    if (!c.is_last) {
      for (const ValueId input : swapped_inputs_) bring_forward(input, c.to);
    }
    note_sources(c, repeats);
  }

  // From here on the replays that make the value start from its sources: for its back access, and
  // each time that an earlier choice is replayed which starts from the value itself.
  void note_sources(const GapCandidate& c, const std::vector<Tick>& repeats) {
    for (const ValueId source : sources_) {
      if (!step_.reach.can_drop(source)) continue;
      std::vector<Tick>& starts = starts_from_[source.slot()];
      starts.insert(starts.end(), repeats.begin(), repeats.end());
      if (!c.is_last) starts.push_back(c.to);
    }
  }

  // The ticks within the gap at which replays start from the value: without it, they have to make
  // it first (the paper's second update of MSPS after each choice).
  std::vector<Tick> repeated_at(const GapCandidate& c) const {
    std::vector<Tick> ticks;
    for (const Tick tick : starts_from_[c.value.slot()]) {
      if (c.from < tick && tick < c.to) ticks.push_back(tick);
    }
    return ticks;
  }

  // A swapped value is needed by a replay before the access it was to come back for.
  void bring_forward(ValueId value, Tick need) {
    SwapDecision& swap = decisions_.swaps[static_cast<std::size_t>(swap_of_[value.slot()])];
    const double seconds =
        cost::read_seconds(problem_.machine.tiers[0], trace_.storage_of(value).bytes);
    const Tick issue = clock_.last_started_by(clock_.start(need) - seconds);
    swap.need = std::min(swap.need, need);
    swap.issue = std::clamp(std::min(swap.issue, issue), swap.after + 1, swap.need);
  }

  // Every candidate is priced when it first comes up, and most never do.
  void file_candidates() {
    index_.emplace(static_cast<std::size_t>(lifetimes_.end()) + 1);
    priorities_.assign(candidates_.size(), kNever);
    std::vector<solve::WaitingIntervals::Interval> waiting;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const GapCandidate& c = candidates_[i];
      if (taken_[i] || (!can_swap(c) && !can_drop(c))) continue;
      waiting.push_back({static_cast<std::int32_t>(i), c.from + 1, c.to - 1});
    }
    waiting_.emplace(std::move(waiting));
  }

  bool can_drop(const GapCandidate& c) const {
    return (options_.may_recompute || c.is_last) && step_.reach.can_drop(c.value);
  }

  // Second phase: at the fullest tick, the candidate that saves most bytes a second. A price only
  // rises as more is dropped, so a candidate whose price still stands is the best one.
  bool take_until_done() {
    if (is_done()) return false;
    // The index is the largest thing here by far, and hidden swaps alone often do.
    if (!index_) file_candidates();
    bool progress = false;
    while (!is_done()) {
      const auto fullest = static_cast<Tick>(profile_->argmax());
      price_waiting(fullest);
      const std::optional<std::int32_t> id = index_->best(static_cast<std::size_t>(fullest));
      if (!id) return progress;
      const GapCandidate& c = candidates_[static_cast<std::size_t>(*id)];
      const Offer offer = offer_for(c, fullest);
      if (offer.seconds() == kNever) {
        index_->remove(*id);
        continue;
      }
      if (msps(c, offer) < priorities_[static_cast<std::size_t>(*id)] * 0.999) {
        set_priority(*id, msps(c, offer));
        continue;
      }
      index_->remove(*id);
      if (offer.drop_seconds <= offer.swap_seconds) {
        take_drop(c);
      } else {
        take_swap(c, offer.slots, c.from + 1);
      }
      progress = true;
    }
    return progress;
  }

  void price_waiting(Tick fullest) {
    for (const std::int32_t id : waiting_->take_covering(fullest)) {
      const GapCandidate& c = candidates_[static_cast<std::size_t>(id)];
      const Offer offer = offer_for(c, fullest);
      if (offer.seconds() == kNever) continue;
      priorities_[static_cast<std::size_t>(id)] = msps(c, offer);
      index_->add(id, static_cast<std::size_t>(c.from) + 1, static_cast<std::size_t>(c.to) - 1,
                  msps(c, offer));
    }
  }

  Offer offer_for(const GapCandidate& c, Tick fullest) {
    Offer offer;
    if (can_drop(c)) offer.drop_seconds = replay_seconds(c);
    if (can_swap(c)) {
      offer.slots = find_slots(c, fullest);
      offer.swap_seconds = shown_seconds(c, offer.slots, fullest);
    }
    return offer;
  }

  static double msps(const GapCandidate& c, const Offer& offer) {
    return static_cast<double>(c.bytes) / std::max(offer.seconds(), 1e-12);
  }

  void set_priority(std::int32_t id, double priority) {
    priorities_[static_cast<std::size_t>(id)] = priority;
    index_->lower(id, priority);
  }

  // How much of a swap compute does not hide: copies that meet, a way in that ends too late, and
  // the fullest op waiting for the way out.
  double shown_seconds(const GapCandidate& c, const SwapSlots& slots, Tick worst) const {
    const double late = slots.in.end - clock_.start(c.to);
    const double room = slots.out.end - clock_.start(worst);
    return std::max({late, room, 0.0});
  }

  double replay_seconds(const GapCandidate& c) {
    const auto times = static_cast<double>(repeated_at(c).size()) + (c.is_last ? 0 : 1);
    return times == 0 ? 0 : times * find_replay(c);
  }

  // Seconds to compute the value before its back access, given what is dropped so far; ways in of
  // swapped inputs count, since they are not planned yet. Leaves those inputs in swapped_inputs_,
  // and the others that it starts from in sources_.
  double find_replay(const GapCandidate& c) {
    swapped_inputs_.clear();
    sources_.clear();
    std::vector<OpId>& ops = replay_ops_;
    ops.assign(1, trace_.value(c.value).producer);
    ++searches_;
    seen_[ops.front().slot()] = searches_;
    double seconds = 0;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (ops.size() > kLongestReplay) return kNever;
      seconds += costs_.op(ops[i]);
      for (const Use& read : trace_.reads(ops[i])) {
        if (read.side_effect) continue;
        if (is_there(read.value, c.to)) {
          (is_swapped(read.value, c.to) ? swapped_inputs_ : sources_).push_back(read.value);
          continue;
        }
        const OpId producer = trace_.value(read.value).producer;
        if (!producer.valid() || !trace_.is_replayable(producer)) return kNever;
        if (seen_[producer.slot()] == searches_) continue;
        seen_[producer.slot()] = searches_;
        ops.push_back(producer);
      }
    }
    for (const ValueId input : swapped_inputs_) {
      seconds += cost::read_seconds(problem_.machine.tiers[0], trace_.storage_of(input).bytes);
    }
    return seconds;
  }

  bool is_swapped(ValueId value, Tick tick) const {
    const std::int32_t index = swap_of_[value.slot()];
    if (index < 0) return false;
    const SwapDecision& swap = decisions_.swaps[static_cast<std::size_t>(index)];
    return swap.after < tick && tick < swap.need;
  }

  // Whether the decisions so far leave the value within reach at a tick: on the device or in host
  // memory.
  bool is_there(ValueId value, Tick tick) const {
    const trace::Lifetime& life = lifetimes_.of(value);
    if (life.born >= tick || tick > life.dies) return false;
    for (std::int32_t i = last_drop_[value.slot()]; i >= 0;) {
      const DroppedGap& gap = dropped_[static_cast<std::size_t>(i)];
      const GapCandidate& c = candidates_[static_cast<std::size_t>(gap.candidate)];
      if (c.from < tick && (tick < c.to || c.is_last)) return false;
      i = gap.previous;
    }
    return true;
  }

  const Problem& problem_;
  const Trace& trace_;
  CapuchinOptions options_;
  const CapuchinStep& step_;
  const trace::Lifetimes& lifetimes_;
  const cost::CostTable& costs_;
  const StepClock& clock_;
  const std::vector<GapCandidate>& candidates_;
  // By candidate: whether it is dropped or swapped.
  std::vector<bool> taken_;
  std::vector<DroppedGap> dropped_;
  // By value: its last entry in dropped_; -1 if none.
  std::vector<std::int32_t> last_drop_;
  // By value: its entry in decisions_.swaps; -1 if none.
  std::vector<std::int32_t> swap_of_;
  std::vector<ValueId> swapped_inputs_;
  std::vector<ValueId> sources_;
  // By value: the ticks of replays that start from it.
  std::vector<std::vector<Tick>> starts_from_;
  // Of the last search for a replay.
  std::vector<OpId> replay_ops_;
  GapDecisions decisions_;
  CopyLane out_lane_;
  CopyLane in_lane_;
  std::int64_t host_left_ = 0;
  std::optional<solve::RangeMax> profile_;
  std::vector<std::int32_t> over_budget_before_;
  // Bytes to save until the published method stops, and whether that still counts.
  std::int64_t to_save_ = 0;
  bool as_published_;
  // The candidates of the second phase: those that have a price, and those that have none yet.
  std::optional<solve::StabIndex> index_;
  std::optional<solve::WaitingIntervals> waiting_;
  std::vector<double> priorities_;
  // By op: the number of the last search for a replay that met it.
  std::vector<std::int32_t> seen_;
  std::int32_t searches_ = 0;
};

bool fits(const Problem& problem, const WrittenPlan& plan) {
  return plan.peak_bytes <= problem.budget_bytes;
}

// The simulator asks for neither name nor digest, and the actions are too many to copy: they are
// only lent.
double seconds(const Problem& problem, WrittenPlan& written) {
  Plan plan;
  plan.budget_bytes = problem.budget_bytes;
  plan.starts.swap(written.starts);
  plan.actions.swap(written.actions);
  const double seconds = sim::simulated_seconds(problem, plan);
  plan.starts.swap(written.starts);
  plan.actions.swap(written.actions);
  return seconds;
}

struct TwoPlans {
  WrittenPlan by_profile;
  // Not made when the other cannot be beaten.
  std::optional<WrittenPlan> by_bytes;
};

// Planners go as soon as their plans are made: what comes next finds their memory still warm.
TwoPlans make_both(const Problem& problem, const CapuchinOptions& options) {
  const CapuchinStep step(problem, options);
  std::optional<Planner> planner(std::in_place, problem, options, step, /*as_published=*/false);
  TwoPlans plans{planner->plan(), std::nullopt};
  // Nothing is quicker than swaps that nobody notices.
  if (fits(problem, plans.by_profile) && planner->is_all_hidden()) return plans;
  planner.reset();
  plans.by_bytes = Planner(problem, options, step, /*as_published=*/true).plan();
  return plans;
}

}  // namespace

WrittenPlan plan_capuchin(const Problem& problem, const CapuchinOptions& options) {
  if (!options.until_fits) {
    const CapuchinStep step(problem, options);
    return Planner(problem, options, step, /*as_published=*/true).plan();
  }
  auto [by_profile, by_bytes] = make_both(problem, options);
  if (!by_bytes) return std::move(by_profile);
  const bool is_better = fits(problem, *by_bytes) && fits(problem, by_profile)
                             ? seconds(problem, *by_bytes) <= seconds(problem, by_profile)
                             : by_bytes->peak_bytes <= by_profile.peak_bytes;
  return is_better ? *std::move(by_bytes) : std::move(by_profile);
}

}  // namespace lowtide::policy
