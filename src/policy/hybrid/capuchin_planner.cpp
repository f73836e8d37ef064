// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/capuchin_planner.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/check.h"
#include "lowtide/simulate.h"
#include "plan/replay_reach.h"
#include "plan/source_holds.h"
#include "policy/hybrid/copy_lane.h"
#include "policy/hybrid/step_clock.h"
#include "solve/range_max.h"
#include "solve/stab_index.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

// A replay that would take more ops than this is no candidate: it keeps planning near-linear, and
// such chains never pay.
constexpr std::size_t kLongestReplay = 512;
constexpr int kMaxRounds = 40;
constexpr double kNever = std::numeric_limits<double>::infinity();

// A value between two accesses that lie apart.
struct GapCandidate {
  ValueId value;
  // The evicting access, and the back access.
  Tick from = 0;
  Tick to = 0;
  std::int64_t bytes = 0;
  // The longest gap of its value: the one that may be swapped.
  bool is_longest = false;
  // Nobody reads it again, so that dropping it costs nothing.
  bool is_last = false;
  bool taken = false;
};

struct SwapSlots {
  CopyLane::Slot out;
  CopyLane::Slot in;
  Tick issue = 0;
};

class Planner {
 public:
  Planner(const Problem& problem, const CapuchinOptions& options, bool as_published)
      : problem_(problem),
        trace_(*problem.trace),
        options_(options),
        lifetimes_(trace_),
        costs_(trace_, problem.machine),
        holds_(plan::hold_sources(problem, lifetimes_, costs_)),
        reach_(trace_, lifetimes_, holds_),
        clock_(problem),
        dropped_gaps_(trace_.values().size()),
        swap_of_(trace_.values().size(), -1),
        as_published_(as_published),
        seen_(trace_.ops().size(), -1) {
    if (!problem.machine.tiers.empty()) host_left_ = problem.machine.tiers[0].capacity_bytes;
    find_candidates();
  }

  WrittenPlan plan() {
    WrittenPlan best = write();
    profile_.emplace(best.tick_bytes);
    to_save_ = best.peak_bytes - problem_.budget_bytes;
    if (to_save_ <= 0) return best;
    decisions_.holds = holds_;
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
    if (!written) written = write_gaps(problem_, lifetimes_, costs_, GapDecisions{}, 0);
    LT_CHECK(written, "the plain step can be written");
    return *std::move(written);
  }

  void find_candidates() {
    for (std::size_t i = 0; i < trace_.values().size(); ++i) {
      const auto value = make_id<ValueId>(i);
      if (trace_.storage_of(value).pinned || costs_.value(value) == 0) continue;
      add_gaps(value);
      if (options_.until_fits) add_last_gap(value, lifetimes_.of(value).last_read());
    }
  }

  double gap_seconds(const GapCandidate& c) const {
    return clock_.start(c.to) - clock_.end(c.from);
  }

  // As published, the longest gap is the only one.
  void add_gaps(ValueId value) {
    std::vector<GapCandidate> gaps;
    Tick last = lifetimes_.of(value).born;
    for (const Tick read : lifetimes_.of(value).reads) {
      if (last >= 0 && read > last + 1) {
        gaps.push_back({.value = value, .from = last, .to = read, .bytes = costs_.value(value)});
      }
      last = read;
    }
    if (gaps.empty()) return;
    const auto longest = std::max_element(gaps.begin(), gaps.end(), [this](auto& a, auto& b) {
      return gap_seconds(a) < gap_seconds(b);
    });
    longest->is_longest = true;
    if (options_.until_fits) {
      candidates_.insert(candidates_.end(), gaps.begin(), gaps.end());
    } else {
      candidates_.push_back(*longest);
    }
  }

  void add_last_gap(ValueId value, Tick last) {
    const trace::Lifetime& life = lifetimes_.of(value);
    if (life.at_end || last < 0 || life.dies <= last + 1 || !reach_.can_drop(value)) return;
    candidates_.push_back({.value = value,
                           .from = last,
                           .to = life.dies,
                           .bytes = costs_.value(value),
                           .is_last = true});
  }

  double out_seconds(const GapCandidate& c) const {
    return cost::write_seconds(problem_.machine.tiers[0], trace_.storage_of(c.value).bytes);
  }
  double in_seconds(const GapCandidate& c) const {
    return cost::read_seconds(problem_.machine.tiers[0], trace_.storage_of(c.value).bytes);
  }
  double free_seconds(const GapCandidate& c) const {
    return clock_.start(c.to) - in_seconds(c) - clock_.end(c.from) - out_seconds(c);
  }

  bool can_swap(const GapCandidate& c) const {
    return options_.may_swap && !problem_.machine.tiers.empty() && c.is_longest &&
           trace_.storage_of(c.value).bytes <= host_left_;
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
    if (problem_.machine.tiers.empty()) return;
    // Sorted by the key itself: looking it up in every comparison would cost a cache miss each.
    std::vector<std::pair<double, std::size_t>> by_free_time;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (can_swap(candidates_[i])) by_free_time.emplace_back(-free_seconds(candidates_[i]), i);
    }
    std::sort(by_free_time.begin(), by_free_time.end());
    const double smallest = options_.ignore_below * mean_bytes();
    for (const auto& [lacking_seconds, i] : by_free_time) {
      GapCandidate& c = candidates_[i];
      if (is_done() || lacking_seconds > 0) return;
      if (!can_swap(c) || static_cast<double>(c.bytes) < smallest) continue;
      const SwapSlots slots = find_slots(c, c.from);
      const Tick gone_from = clock_.first_starting_from(slots.out.end);
      if (slots.in.end > clock_.start(c.to) || !relieves(gone_from, slots.issue - 1)) continue;
      take_swap(c, slots, gone_from);
    }
  }

  double mean_bytes() const {
    double total = 0;
    for (const GapCandidate& c : candidates_) total += static_cast<double>(c.bytes);
    return candidates_.empty() ? 0 : total / static_cast<double>(candidates_.size());
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

  void take_swap(GapCandidate& c, const SwapSlots& slots, Tick gone_from) {
    c.taken = true;
    out_lane_.take(slots.out);
    in_lane_.take(slots.in);
    host_left_ -= trace_.storage_of(c.value).bytes;
    swap_of_[c.value.slot()] = static_cast<std::int32_t>(decisions_.swaps.size());
    decisions_.swaps.push_back({c.value, TierId{0}, c.from, slots.issue, c.to});
    save(c, gone_from, slots.issue - 1);
  }

  void take_drop(GapCandidate& c) {
    c.taken = true;
    dropped_gaps_[c.value.slot()].push_back(static_cast<std::int32_t>(&c - candidates_.data()));
    decisions_.drops.push_back({c.value, c.from});
    save(c, c.from + 1, c.to - 1);
    if (c.is_last) return;
    find_replay(c);
    for (const ValueId input : swapped_inputs_) bring_forward(input, c.to);
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

  void file_candidates() {
    index_.emplace(static_cast<std::size_t>(lifetimes_.end()) + 1);
    priorities_.assign(candidates_.size(), kNever);
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const GapCandidate& c = candidates_[i];
      if (c.taken || (!can_swap(c) && !can_drop(c))) continue;
      // Every candidate is priced when it first comes up.
      index_->add(static_cast<std::int32_t>(i), static_cast<std::size_t>(c.from) + 1,
                  static_cast<std::size_t>(c.to) - 1, kNever);
    }
  }

  bool can_drop(const GapCandidate& c) const {
    return (options_.may_recompute || c.is_last) && reach_.can_drop(c.value);
  }

  // Second phase: at the fullest tick, the candidate that saves most bytes a second. A price only
  // rises as more is dropped, so a candidate whose price still stands is the best one.
  bool take_until_done() {
    if (is_done()) return false;
    // The index is the largest thing here by far, and hidden swaps alone often do.
    if (!index_) file_candidates();
    bool progress = false;
    while (!is_done()) {
      const std::size_t worst = profile_->argmax();
      const std::optional<std::int32_t> id = index_->best(worst);
      if (!id) return progress;
      GapCandidate& c = candidates_[static_cast<std::size_t>(*id)];
      const double drop_seconds = can_drop(c) ? replay_seconds(c) : kNever;
      const auto fullest = static_cast<Tick>(worst);
      const SwapSlots slots = can_swap(c) ? find_slots(c, fullest) : SwapSlots{};
      const double swap_seconds = can_swap(c) ? shown_seconds(c, slots, fullest) : kNever;
      const double cheapest = std::min(drop_seconds, swap_seconds);
      if (cheapest == kNever) {
        index_->remove(*id);
        continue;
      }
      const double msps = static_cast<double>(c.bytes) / std::max(cheapest, 1e-12);
      if (msps < priorities_[static_cast<std::size_t>(*id)] * 0.999) {
        set_priority(*id, msps);
        continue;
      }
      index_->remove(*id);
      if (drop_seconds <= swap_seconds) {
        take_drop(c);
      } else {
        take_swap(c, slots, c.from + 1);
      }
      progress = true;
    }
    return progress;
  }

  void set_priority(std::int32_t id, double priority) {
    priorities_[static_cast<std::size_t>(id)] = priority;
    index_->update(id, priority);
  }

  // How much of a swap compute does not hide: copies that meet, a way in that ends too late, and
  // the fullest op waiting for the way out.
  double shown_seconds(const GapCandidate& c, const SwapSlots& slots, Tick worst) const {
    const double late = slots.in.end - clock_.start(c.to);
    const double room = slots.out.end - clock_.start(worst);
    return std::max({late, room, 0.0});
  }

  double replay_seconds(const GapCandidate& c) { return c.is_last ? 0 : find_replay(c); }

  // Seconds to compute the value before its back access, given what is dropped so far; ways in of
  // swapped inputs count, since they are not planned yet. Leaves those inputs in swapped_inputs_.
  double find_replay(const GapCandidate& c) {
    swapped_inputs_.clear();
    std::vector<OpId> ops{trace_.value(c.value).producer};
    ++searches_;
    seen_[ops.front().slot()] = searches_;
    double seconds = 0;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (ops.size() > kLongestReplay) return kNever;
      seconds += costs_.op(ops[i]);
      for (const Use& read : trace_.op(ops[i]).reads) {
        if (read.side_effect) continue;
        if (is_there(read.value, c.to)) {
          if (is_swapped(read.value, c.to)) swapped_inputs_.push_back(read.value);
          continue;
        }
        const OpId producer = trace_.value(read.value).producer;
        if (!producer.valid() || !trace_.op(producer).replayable) return kNever;
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
    return std::none_of(dropped_gaps_[value.slot()].begin(), dropped_gaps_[value.slot()].end(),
                        [&](std::int32_t gap) {
                          const GapCandidate& c = candidates_[static_cast<std::size_t>(gap)];
                          return c.from < tick && (tick < c.to || c.is_last);
                        });
  }

  const Problem& problem_;
  const Trace& trace_;
  CapuchinOptions options_;
  trace::Lifetimes lifetimes_;
  cost::CostTable costs_;
  std::vector<plan::ExtendedLife> holds_;
  plan::ReplayReach reach_;
  StepClock clock_;
  std::vector<GapCandidate> candidates_;
  // By value: the candidates whose gaps are dropped.
  std::vector<std::vector<std::int32_t>> dropped_gaps_;
  // By value: its entry in decisions_.swaps; -1 if none.
  std::vector<std::int32_t> swap_of_;
  std::vector<ValueId> swapped_inputs_;
  GapDecisions decisions_;
  CopyLane out_lane_;
  CopyLane in_lane_;
  std::int64_t host_left_ = 0;
  std::optional<solve::RangeMax> profile_;
  std::vector<std::int32_t> over_budget_before_;
  // Bytes to save until the published method stops, and whether that still counts.
  std::int64_t to_save_ = 0;
  bool as_published_;
  std::optional<solve::StabIndex> index_;
  std::vector<double> priorities_;
  // By op: the number of the last search for a replay that met it.
  std::vector<std::int32_t> seen_;
  std::int32_t searches_ = 0;
};

}  // namespace

WrittenPlan plan_capuchin(const Problem& problem, const CapuchinOptions& options) {
  if (!options.until_fits) return Planner(problem, options, /*as_published=*/true).plan();
  Planner profile_planner(problem, options, /*as_published=*/false);
  WrittenPlan by_profile = profile_planner.plan();
  const auto fits = [&](const WrittenPlan& plan) {
    return plan.peak_bytes <= problem.budget_bytes;
  };
  // Nothing is quicker than swaps that nobody notices.
  if (fits(by_profile) && profile_planner.is_all_hidden()) return by_profile;
  WrittenPlan by_bytes = Planner(problem, options, /*as_published=*/true).plan();
  if (!fits(by_bytes) || !fits(by_profile)) {
    return by_bytes.peak_bytes <= by_profile.peak_bytes ? by_bytes : by_profile;
  }
  const auto seconds = [&](const WrittenPlan& plan) {
    return simulate(problem, finish_plan(problem, "capuchin", plan)).seconds;
  };
  return seconds(by_bytes) <= seconds(by_profile) ? by_bytes : by_profile;
}

}  // namespace lowtide::policy
