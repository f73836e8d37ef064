// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Ren et al., Sentinel: efficient tensor migration and allocation on heterogeneous memory systems
// for deep learning, HPCA 2021.
//
// The step is cut into migration intervals of as many layers each. While one interval runs, what
// the next one uses comes to the device, and what neither of the two uses may leave. Values that
// live within one layer are short-lived: they never migrate and lie in a pool of their own. The
// length of the intervals is the largest for which the step fits and every interval is as long as
// the copies that it has to hide: long intervals hide copies better, short ones hold less.
//
// Where this departs from the paper: the fast memory is the device and the slow one is the host's,
// which ops cannot read in place, so that a copy that is late is waited for (the paper leaves the
// rest in slow memory, or waits, whichever it measured to be faster). A layer is a run of ops that
// bear one layer's name, or an op if it has none. If copies show with every length that fits, the
// one is taken of which the least shows. Lengths are tried in steps of a half to a third, or one is
// given (`interval`). What may
// leave does so only where room is needed: of what the intervals leave out, that stays which would
// be back soonest. The pool
// of short-lived values takes no more than what is in it, since storages have sizes of their own
// and no pages that they could share falsely; pools=yes writes the pools down.
//
// Limits: one length for the whole step. What eager torch allocates it places by itself, so that
// pools are for the simulator.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "policy/factories.h"
#include "policy/fetch_ahead.h"
#include "policy/gap_writer.h"
#include "policy/hybrid/step_clock.h"
#include "policy/idle_gaps.h"
#include "policy/option_reader.h"
#include "policy/storages_to_move.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

constexpr TierId kHost{0};

// The step in intervals of so many layers.
class Intervals {
 public:
  // `layers`: the layer of each tick, in order.
  Intervals(const std::vector<std::int32_t>& layers, std::int32_t length)
      : layers_(layers), length_(length) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (layers[i] / length >= count()) starts_.push_back(static_cast<Tick>(i));
    }
  }

  std::int32_t count() const { return static_cast<std::int32_t>(starts_.size()); }
  // Before the step is -1, and its end belongs to the first interval of the next one.
  std::int32_t of(Tick tick) const {
    if (tick < 0) return -1;
    const auto slot = static_cast<std::size_t>(tick);
    return slot < layers_.size() ? layers_[slot] / length_ : count();
  }
  Tick start(std::int32_t interval) const {
    return starts_[static_cast<std::size_t>(std::max(interval, 0))];
  }
  // The first tick after it.
  Tick end(std::int32_t interval) const {
    return interval + 1 < count() ? start(interval + 1) : static_cast<Tick>(layers_.size());
  }

 private:
  const std::vector<std::int32_t>& layers_;
  std::int32_t length_;
  std::vector<Tick> starts_;
};

class SentinelPlanner {
 public:
  explicit SentinelPlanner(const Problem& problem)
      : problem_(problem),
        trace_(*problem.trace),
        lifetimes_(*trace_.lifetimes()),
        costs_(trace_, problem.machine),
        clock_(problem),
        layers_(layers_of(trace_, lifetimes_)) {
    groups_ = idle_gaps(trace_, lifetimes_, storages_to_move(problem));
    std::erase_if(groups_, [&](const GapGroup& group) { return is_short_lived(group); });
  }

  // `interval`: the length of intervals in layers; 0: the longest that fits and hides its copies.
  PlanOutcome plan(std::int32_t interval, bool writes_pools) const {
    std::optional<Try> best;
    std::int64_t least_bytes = std::numeric_limits<std::int64_t>::max();
    for (const std::int32_t length : interval > 0 ? std::vector{interval} : lengths()) {
      Try next = attempt(length);
      least_bytes = std::min(least_bytes, next.least_bytes);
      if (next.least_bytes > problem_.budget_bytes) continue;
      if (!best || next.shown_seconds < best->shown_seconds) best = std::move(next);
      if (best->shown_seconds <= 0) break;
    }
    if (!best) {
      return Refusal{.reason = base::concat(interval > 0 ? "with such" : "with the shortest",
                                            " intervals the step still takes ",
                                            base::format_bytes(least_bytes)),
                     .smallest_budget_bytes = least_bytes};
    }
    auto written = write_gaps(problem_, lifetimes_, costs_, best->decisions, 0);
    LT_CHECK(written && written->peak_bytes <= problem_.budget_bytes,
             "what stays was counted, but the step takes ", written ? written->peak_bytes : 0);
    if (writes_pools) write_pools(Intervals(layers_, best->length), *written);
    return finish_plan(problem_, "sentinel", *std::move(written));
  }

 private:
  struct Try {
    std::int32_t length = 0;
    // With everything away that may leave.
    std::int64_t least_bytes = 0;
    // What does leave, and how much longer the copies of each interval take than its ops.
    GapDecisions decisions;
    double shown_seconds = 0;
  };

  // What leaves together: a row of swaps, and how long they are away.
  struct Absence {
    std::ptrdiff_t first_swap = 0;
    std::size_t swaps = 0;
    double seconds = 0;
  };

  static std::vector<std::int32_t> layers_of(const Trace& trace,
                                             const trace::Lifetimes& lifetimes) {
    std::vector<std::int32_t> layers;
    const Op* last = nullptr;
    for (const OpId id : lifetimes.sequence()) {
      const Op& op = trace.op(id);
      const bool goes_on = last != nullptr && !op.layer.empty() && op.layer == last->layer &&
                           op.phase == last->phase;
      layers.push_back(layers.empty() ? 0 : layers.back() + (goes_on ? 0 : 1));
      last = &op;
    }
    return layers;
  }

  std::int32_t layer_of(Tick tick) const {
    return tick < static_cast<Tick>(layers_.size()) ? layers_[static_cast<std::size_t>(tick)]
                                                    : layers_.back() + 1;
  }

  bool is_short_lived(ValueId value) const {
    const trace::Lifetime& life = lifetimes_.of(value);
    return life.born >= 0 && layer_of(life.born) == layer_of(life.dies);
  }
  bool is_short_lived(const GapGroup& group) const {
    return !group.goes_round && is_short_lived(group.gaps.front().value);
  }

  // The longest first: the whole step, where nothing moves, down to single layers.
  std::vector<std::int32_t> lengths() const {
    const std::int32_t all = layers_.empty() ? 1 : layers_.back() + 1;
    std::vector<std::int32_t> result{all};
    for (std::int32_t power = 1; power < all; power *= 2) {
      result.push_back(power);
      if (power + power / 2 < all && power > 1) result.push_back(power + power / 2);
    }
    std::sort(result.rbegin(), result.rend());
    return result;
  }

  Try attempt(std::int32_t length) const {
    const Intervals intervals(layers_, length);
    GapDecisions all;
    std::vector<Absence> absences = find_absences(intervals, all);
    const auto least = weigh_gaps(problem_, lifetimes_, costs_, all, 0);
    LT_CHECK(least, "moved values come back without replays");
    Try result{length, least->peak_bytes, {}, 0};
    if (least->peak_bytes > problem_.budget_bytes) return result;
    RoomBelow room(problem_.budget_bytes, least->tick_bytes, costs_);
    // The shortest absence first; of equally long ones that which was found first.
    std::sort(absences.begin(), absences.end(), [](const Absence& a, const Absence& b) {
      return std::pair(a.seconds, a.first_swap) < std::pair(b.seconds, b.first_swap);
    });
    std::vector<Presence> presences;
    for (const Absence& absence : absences) {
      const std::span swaps(all.swaps.begin() + absence.first_swap, absence.swaps);
      presences.clear();
      for (const SwapDecision& swap : swaps) presences.push_back(if_it_stays(swap));
      if (room(presences)) continue;
      for (const SwapDecision& swap : swaps) leave(swap, result.decisions);
    }
    result.shown_seconds = shown_seconds(intervals, result.decisions);
    return result;
  }

  Presence if_it_stays(const SwapDecision& swap) const {
    const Tick last = std::min(swap.issue - 1, lifetimes_.of(swap.value).dies);
    return {swap.value, swap.after + 1, last};
  }

  double seconds_away(const SwapDecision& swap) const {
    return clock_.start(std::min(swap.issue, lifetimes_.end())) - clock_.end(swap.after);
  }

  double shown_seconds(const Intervals& intervals, const GapDecisions& decisions) const {
    if (decisions.swaps.empty()) return 0;
    const Tier& host = problem_.machine.tier(kHost);
    std::vector<double> out(static_cast<std::size_t>(intervals.count()), 0);
    std::vector<double> in = out;
    const auto slot = [&](Tick tick) {
      return static_cast<std::size_t>(std::min(intervals.of(tick), intervals.count() - 1));
    };
    for (const SwapDecision& swap : decisions.swaps) {
      const std::int64_t bytes = trace_.storage_of(swap.value).bytes;
      if (swap.after >= 0) out[slot(swap.after)] += cost::write_seconds(host, bytes);
      if (swap.need <= lifetimes_.end()) in[slot(swap.issue)] += cost::read_seconds(host, bytes);
    }
    double shown = 0;
    for (std::int32_t i = 0; i < intervals.count(); ++i) {
      const double own = clock_.start(intervals.end(i)) - clock_.start(intervals.start(i));
      const auto at = static_cast<std::size_t>(i);
      shown += std::max(0.0, in[at] - own) + std::max(0.0, out[at] - own);
    }
    return shown;
  }

  // What may leave, and how all of it does.
  std::vector<Absence> find_absences(const Intervals& intervals, GapDecisions& all) const {
    std::vector<Absence> absences;
    for (const GapGroup& group : groups_) {
      Absence absence{static_cast<std::ptrdiff_t>(all.swaps.size()), 0, 0};
      if (group.goes_round) {
        leave_around(intervals, group, all);
      } else {
        leave_over(intervals, group.gaps.front(), all);
      }
      for (auto i = static_cast<std::size_t>(absence.first_swap); i < all.swaps.size(); ++i) {
        absence.seconds += seconds_away(all.swaps[i]);
        ++absence.swaps;
      }
      if (absence.swaps > 0) absences.push_back(absence);
    }
    return absences;
  }

  void leave_over(const Intervals& intervals, const IdleGap& gap, GapDecisions& decisions) const {
    // Nobody needs it again, and it could as well be gone.
    const bool returns = gap.need <= lifetimes_.end();
    const Tick until = returns ? gap.need : lifetimes_.of(gap.value).dies;
    const std::int32_t next = intervals.of(until);
    if (next <= intervals.of(gap.after) + 1) return;
    const Tick issue = returns ? intervals.start(next - 1) : gap.need;
    // It would be back as soon as it has left.
    if (issue == gap.after + 1) return;
    leave({gap.value, kHost, gap.after, issue, gap.need}, decisions);
  }

  // What lies between the last use of one step and the first of the next one.
  void leave_around(const Intervals& intervals, const GapGroup& group,
                    GapDecisions& decisions) const {
    if (intervals.count() <= 1) return;
    const IdleGap& last = group.gaps.back();
    if (intervals.of(group.gaps.front().need) == 0) {
      // It is needed as soon as the next step begins, and is back for that.
      leave_over(intervals, {last.value, last.after, lifetimes_.end()}, decisions);
      return;
    }
    for (const IdleGap& gap : group.gaps) {
      const bool returns = gap.need <= lifetimes_.end();
      const Tick issue = returns ? intervals.start(intervals.of(gap.need) - 1) : gap.need;
      leave({gap.value, kHost, gap.after, issue, gap.need}, decisions);
    }
  }

  void leave(const SwapDecision& swap, GapDecisions& decisions) const {
    if (swap.after < 0) decisions.starts.push_back({trace_.value(swap.value).storage, kHost});
    decisions.swaps.push_back(swap);
  }

  // Short-lived values in one pool, others together with those that are used first in the same
  // interval.
  void write_pools(const Intervals& intervals, WrittenPlan& written) const {
    for (std::size_t i = 0; i < trace_.values().size(); ++i) {
      const auto value = make_id<ValueId>(i);
      const std::int32_t pool =
          is_short_lived(value) ? 0 : 2 + intervals.of(lifetimes_.of(value).born);
      written.actions.emplace_back(Place{value, pool, std::nullopt});
    }
  }

  const Problem& problem_;
  const Trace& trace_;
  const trace::Lifetimes& lifetimes_;
  const cost::CostTable costs_;
  const StepClock clock_;
  // By tick.
  const std::vector<std::int32_t> layers_;
  // Of long-lived values.
  std::vector<GapGroup> groups_;
};

class Sentinel final : public Policy {
 public:
  Sentinel(std::int32_t interval, bool writes_pools)
      : interval_(interval), writes_pools_(writes_pools) {}
  PlanOutcome plan(const Problem& problem) const override {
    return SentinelPlanner(problem).plan(interval_, writes_pools_);
  }

 private:
  std::int32_t interval_;
  bool writes_pools_;
};

}  // namespace

std::unique_ptr<Policy> make_sentinel(const PolicyOptions& options) {
  OptionReader reader("sentinel", options);
  const auto interval = static_cast<std::int32_t>(reader.integer("interval", 0, 0, 1'000'000));
  const bool writes_pools = reader.choice<bool>("pools", false, {{"no", false}, {"yes", true}});
  reader.finish();
  return std::make_unique<Sentinel>(interval, writes_pools);
}

}  // namespace lowtide::policy
