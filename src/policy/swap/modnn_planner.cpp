// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/swap/modnn_planner.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "policy/algorithms.h"
#include "policy/hybrid/copy_lane.h"
#include "policy/hybrid/step_clock.h"
#include "policy/saved_values.h"
#include "policy/storages_to_move.h"
#include "policy/swap/fetch_schedule.h"
#include "solve/range_max.h"
#include "solve/stab_index.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

// A price that has risen is put up by this much more, so that moves which wait for one link do not
// all have to be priced anew each time one of them is taken.
constexpr double kPriceStep = 1.25;

// One thing that could make a tick hold less.
struct Measure {
  enum class Kind : std::uint8_t {
    kMove,   // a saved value leaves
    kLower,  // a convolution gets its next leaner algorithm
  };
  Kind kind = Kind::kMove;
  // Into saved values or convolutions.
  std::size_t index = 0;
  // By how much it adds to the step's time, as far as is known.
  double seconds = 0;
};

struct CopySlots {
  CopyLane::Slot out;
  CopyLane::Slot in;
};

// A saved value that may leave. Prices are asked for again and again, of one value here and one
// there: what they need stands together, not in a trace of many megabytes.
struct Movable {
  SavedValue saved;
  double write_seconds = 0;
  double read_seconds = 0;
  // When the forward pass is through with it, and when the backward pass comes to it.
  double free_from = 0;
  double need_at = 0;
};

class Planner {
 public:
  Planner(const Problem& problem, const ModnnOptions& options)
      : problem_(problem),
        trace_(*problem.trace),
        lifetimes_(*trace_.lifetimes()),
        options_(options),
        algorithms_(problem),
        choice_(options.may_choose ? algorithms_.quickest() : algorithms_.as_traced()),
        ways_taken_(choice_.size(), 0),
        costs_(algorithms_.costs(choice_)),
        clock_(problem, costs_),
        profile_(weigh(costs_, {}).tick_bytes),
        index_(trace_.ops().size() + 1) {
    if (options.may_offload) find_saved();
  }

  WrittenPlan plan() {
    file_measures();
    while (profile_.max() > problem_.budget_bytes &&
           take_best(static_cast<Tick>(profile_.argmax())))
      continue;
    const cost::CostTable costs = algorithms_.costs(choice_);
    GapDecisions decisions;
    decisions.swaps = std::move(swaps_);
    std::vector<std::int64_t> tick_bytes = weigh(costs, decisions).tick_bytes;
    fetch_in_time(problem_, costs, /*lead=*/1, decisions.swaps, tick_bytes);
    auto written = write_gaps(problem_, lifetimes_, costs, decisions, /*max_replays=*/0);
    LT_CHECK(written, "moved values come back without replays");
    for (std::size_t i = 0; i < choice_.size(); ++i) {
      if (choice_[i].implementation < 0) continue;
      written->actions.push_back(Choose{algorithms_.ops()[i], choice_[i].implementation});
    }
    return *std::move(written);
  }

 private:
  WrittenPlan weigh(const cost::CostTable& costs, const GapDecisions& decisions) const {
    auto weighed = weigh_gaps(problem_, lifetimes_, costs, decisions, 0);
    LT_CHECK(weighed, "a step without replays can be weighed");
    return *std::move(weighed);
  }

  // The largest first: among measures that cost the same they are taken in this order.
  void find_saved() {
    const std::vector<bool> may_move = storages_to_move(problem_);
    for (std::size_t i = 0; i < trace_.values().size(); ++i) {
      const auto value = make_id<ValueId>(i);
      const Storage& storage = trace_.storage_of(value);
      if (storage.at_end || !may_move[trace_.value(value).storage.slot()]) continue;
      if (const auto saved = saved_value(trace_, lifetimes_, value)) {
        movables_.push_back(movable(*saved, storage.bytes));
      }
    }
    std::stable_sort(movables_.begin(), movables_.end(),
                     [this](const Movable& a, const Movable& b) {
                       return costs_.value(a.saved.value) > costs_.value(b.saved.value);
                     });
  }

  Movable movable(const SavedValue& saved, std::int64_t bytes) const {
    const Tier& host = problem_.machine.tiers[0];
    return {saved, cost::write_seconds(host, bytes), cost::read_seconds(host, bytes),
            clock_.end(saved.last_forward), clock_.start(saved.first_backward)};
  }

  // All as if they cost nothing: what they do cost is found out when they come up.
  void file_measures() {
    for (std::size_t i = 0; i < movables_.size(); ++i) {
      const SavedValue& saved = movables_[i].saved;
      file({Measure::Kind::kMove, i}, saved.last_forward + 1, saved.first_backward - 1);
    }
    if (!options_.may_choose) return;
    for (std::size_t i = 0; i < choice_.size(); ++i) file_lowering(i);
  }

  void file(const Measure& measure, Tick first, Tick last) {
    if (first > last) return;
    index_.add(static_cast<std::int32_t>(measures_.size()), static_cast<std::size_t>(first),
               static_cast<std::size_t>(last), -measure.seconds);
    measures_.push_back(measure);
  }

  void file_lowering(std::size_t convolution) {
    const std::vector<Algorithm>& ways = algorithms_.ways(convolution);
    const std::size_t next = ways_taken_[convolution] + 1;
    if (next == ways.size()) return;
    const Tick tick = lifetimes_.tick_of(algorithms_.ops()[convolution]);
    file({Measure::Kind::kLower, convolution, ways[next].seconds - ways[next - 1].seconds}, tick,
         tick);
  }

  // Takes the measure against a tick that adds least time. False if there is none.
  bool take_best(Tick tick) {
    while (const auto id = index_.best(static_cast<std::size_t>(tick))) {
      Measure& measure = measures_[static_cast<std::size_t>(*id)];
      const double seconds = added_seconds(measure, tick);
      // Others have taken the link meanwhile, or this is the first look.
      if (seconds > measure.seconds) {
        measure.seconds = seconds * kPriceStep;
        index_.lower(*id, -measure.seconds);
        continue;
      }
      index_.remove(*id);
      take(measure);
      return true;
    }
    return false;
  }

  double added_seconds(const Measure& measure, Tick tick) const {
    if (measure.kind == Measure::Kind::kLower) return measure.seconds;
    const Movable& movable = movables_[measure.index];
    const CopySlots slots = find_slots(movable);
    return std::max({slots.in.end - movable.need_at, slots.out.end - clock_.start(tick), 0.0});
  }

  // By value: `measures_` may grow.
  void take(Measure measure) {
    if (measure.kind == Measure::Kind::kLower) return take_lowering(measure.index);
    const SavedValue& saved = movables_[measure.index].saved;
    const CopySlots slots = find_slots(movables_[measure.index]);
    out_lane_.take(slots.out);
    in_lane_.take(slots.in);
    const Tick need = saved.first_backward;
    swaps_.push_back({saved.value, TierId{0}, saved.last_forward, need, need});
    relieve(saved.last_forward + 1, need - 1, costs_.value(saved.value));
  }

  // Released as early and brought back as late as the link allows.
  CopySlots find_slots(const Movable& movable) const {
    CopySlots slots;
    slots.out = out_lane_.earliest(movable.free_from, movable.write_seconds);
    slots.in = in_lane_.latest(movable.need_at, movable.read_seconds);
    if (slots.in.start < slots.out.end) {
      slots.in = in_lane_.earliest(slots.out.end, movable.read_seconds);
    }
    return slots;
  }

  void take_lowering(std::size_t convolution) {
    const Algorithm before = choice_[convolution];
    choice_[convolution] = algorithms_.ways(convolution)[++ways_taken_[convolution]];
    const Tick tick = lifetimes_.tick_of(algorithms_.ops()[convolution]);
    relieve(tick, tick, before.workspace_bytes - choice_[convolution].workspace_bytes);
    file_lowering(convolution);
  }

  void relieve(Tick first, Tick last, std::int64_t bytes) {
    if (first > last) return;
    profile_.add(static_cast<std::size_t>(first), static_cast<std::size_t>(last), -bytes);
  }

  const Problem& problem_;
  const Trace& trace_;
  const trace::Lifetimes& lifetimes_;
  ModnnOptions options_;
  const ConvolutionAlgorithms algorithms_;
  ConvolutionAlgorithms::Choice choice_;
  // By convolution: how many of its ways are above the one it has now.
  std::vector<std::size_t> ways_taken_;
  // With the quickest algorithms: times of lowered ones only move copies apart.
  const cost::CostTable costs_;
  const StepClock clock_;
  solve::RangeMax profile_;
  solve::StabIndex index_;
  // The largest first.
  std::vector<Movable> movables_;
  std::vector<Measure> measures_;
  std::vector<SwapDecision> swaps_;
  CopyLane out_lane_;
  CopyLane in_lane_;
};

}  // namespace

WrittenPlan plan_modnn(const Problem& problem, const ModnnOptions& options) {
  return Planner(problem, options).plan();
}

}  // namespace lowtide::policy
