// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// SuperNeurons (Wang et al., PPoPP 2018). Four things, in the order in which they are used:
//   - liveness: what nobody reads again goes at once;
//   - the unified tensor pool: outputs of checkpoints (convolutions and other layers that are not
//     cheap) move to host memory and start to come back when the backward pass is at the checkpoint
//     above. A cache over the device decides which: nothing moves while the step fits, and then the
//     one that was used longest ago goes first;
//   - recomputation of cheap layers (pooling, activation, normalisation, dropout) from the
//     checkpoint below. A segment between two checkpoints is brought back once and kept
//     (speed-centric) if its bytes and what the way back through its last layer needs are at most
//     l_peak, what the largest layer needs anyway; else for each reader anew (memory-centric), and
//     so is every segment where the step does not fit otherwise;
//   - workspace: each convolution gets the quickest algorithm for which the step has room then.
//
// Departures. The cache is simulated: what it would evict under pressure starts to leave right
// after its last use. The paper drops all cheap outputs; here the cache applies to them too: the
// oldest segments are dropped, as few as are needed to fit, or more if the simulator finds that
// quicker than the moves which that saves. A cheap op that works in place on a checkpoint's output
// is part of the checkpoint. What is dead is only dropped where a replay could bring it back, as
// the engine wants it.
//
// Limits: parameters, their gradients and the batch stay. Plans for traces whose convolutions have
// implementations to choose from are for the simulator only; recorded steps have none.
#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "plan/bounds.h"
#include "policy/factories.h"
#include "policy/gap_writer.h"
#include "policy/hybrid/superneurons_step.h"
#include "policy/option_reader.h"
#include "policy/smallest_budget.h"
#include "sim/simulation.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

enum class SegmentRule { kCostAware, kSpeed, kMemory };

struct SuperneuronsOptions {
  bool may_offload = true;
  bool may_recompute = true;
  SegmentRule segments = SegmentRule::kCostAware;
};

// Numbers of dropped segments that are simulated, from the fewest that fit to all.
constexpr std::size_t kNumbersSimulated = 4;

class Planner {
 public:
  Planner(const Problem& problem, const SuperneuronsOptions& options)
      : problem_(problem), options_(options), step_(problem), trace_(step_.trace) {
    most_dropped_ = options.may_recompute ? step_.segments.size() : 0;
    segment_of_.assign(trace_.values().size(), -1);
    for (std::size_t i = 0; i < step_.segments.size(); ++i) {
      for (const SavedValue& saved : step_.segments[i].values) {
        segment_of_[saved.value.slot()] = static_cast<std::int32_t>(i);
      }
    }
  }

  // The quickest plan of those that fit.
  std::optional<Plan> plan() {
    if (peak_of(GapDecisions{}) <= problem_.budget_bytes) return finish(GapDecisions{});
    std::optional<Plan> best;
    double best_seconds = std::numeric_limits<double>::infinity();
    for (const std::size_t dropped : numbers_to_simulate()) {
      Plan plan = finish(decide(dropped, options_.may_offload));
      const double seconds = sim::simulated_seconds(problem_, plan);
      if (seconds >= best_seconds) continue;
      best_seconds = seconds;
      best = std::move(plan);
    }
    return best;
  }

  // Of all that was tried.
  std::int64_t least_peak_bytes() const { return least_peak_bytes_; }

 private:
  std::int64_t peak_of(const GapDecisions& decisions) {
    const auto weighed =
        weigh_gaps(problem_, step_.lifetimes, step_.costs, decisions, max_replays());
    if (!weighed) return std::numeric_limits<std::int64_t>::max();
    least_peak_bytes_ = std::min(least_peak_bytes_, weighed->peak_bytes);
    return weighed->peak_bytes;
  }

  std::int64_t max_replays() const {
    return 64 * static_cast<std::int64_t>(trace_.ops().size()) + 1000;
  }

  bool fits(std::size_t dropped, bool with_moves) {
    return peak_of(decide(dropped, with_moves)) <= problem_.budget_bytes;
  }

  // With so many segments dropped the step fits; nothing if it does not with all of them.
  std::optional<std::size_t> fewest_dropped(bool with_moves) {
    if (fits(0, with_moves)) return 0;
    if (most_dropped_ == 0 || !fits(most_dropped_, with_moves)) return std::nullopt;
    std::size_t fails = 0;
    std::size_t works = most_dropped_;
    while (works - fails > 1) {
      const std::size_t middle = fails + (works - fails) / 2;
      (fits(middle, with_moves) ? works : fails) = middle;
    }
    return works;
  }

  // In ascending order; empty if nothing fits. With more dropped than it takes to fit without any
  // move nothing is gained.
  std::set<std::size_t> numbers_to_simulate() {
    const auto fewest = fewest_dropped(options_.may_offload);
    if (!fewest) return {};
    const auto without_moves = options_.may_offload ? fewest_dropped(false) : fewest;
    const std::size_t most = std::max(*fewest, without_moves.value_or(most_dropped_));
    std::set<std::size_t> numbers = {*fewest};
    for (std::size_t i = 1; i < kNumbersSimulated; ++i) {
      const std::size_t number = *fewest + (most - *fewest) * i / (kNumbersSimulated - 1);
      if (!numbers.contains(number) && fits(number, options_.may_offload)) numbers.insert(number);
    }
    return numbers;
  }

  bool is_kept(std::size_t segment) const {
    if (options_.segments != SegmentRule::kCostAware) {
      return options_.segments == SegmentRule::kSpeed;
    }
    const CheapSegment& s = step_.segments[segment];
    return s.bytes + s.backward_bytes <= step_.layer_peak_bytes;
  }

  // What leaves if the oldest segments are dropped, so many of them.
  GapDecisions decide(std::size_t dropped, bool with_moves) {
    GapDecisions decisions;
    decisions.keep_replayed = [this](ValueId value, Tick, Tick) {
      const std::int32_t segment = segment_of_[value.slot()];
      return segment >= 0 && is_kept(static_cast<std::size_t>(segment));
    };
    for (std::size_t i = 0; i < dropped; ++i) drop_segment(i, decisions);
    find_replay_needs(static_cast<std::int32_t>(dropped));
    drop_dead(decisions);
    if (with_moves) offload(decisions);
    return decisions;
  }

  void drop_segment(std::size_t segment, GapDecisions& decisions) const {
    for (const SavedValue& saved : step_.segments[segment].values) {
      decisions.drops.push_back({saved.value, saved.last_forward});
      if (is_kept(segment)) continue;
      const trace::Lifetime& life = step_.lifetimes.of(saved.value);
      for (const Tick read : life.reads) {
        if (read >= saved.first_backward && read < life.last_read()) {
          decisions.drops.push_back({saved.value, read});
        }
      }
    }
  }

  // By value: the first and the last tick in which a replay reads it. From the end, since a replay
  // may ask for others before it.
  void find_replay_needs(std::int32_t dropped) {
    first_replay_.assign(trace_.values().size(), std::numeric_limits<Tick>::max());
    last_replay_.assign(trace_.values().size(), -1);
    for (Tick tick = step_.lifetimes.end(); tick-- > 0;) {
      const OpId op = step_.lifetimes.op_at(tick);
      Tick first = std::numeric_limits<Tick>::max();
      Tick last = -1;
      for (const Use& write : trace_.writes(op)) {
        const std::size_t slot = write.value.slot();
        const trace::Lifetime& life = step_.lifetimes.of(write.value);
        const bool is_dropped = segment_of_[slot] >= 0 && segment_of_[slot] < dropped;
        if (!is_dropped && last_replay_[slot] <= life.dies) continue;
        first = std::min(first, first_replay_[slot]);
        last = std::max(last, last_replay_[slot]);
        if (is_dropped) {
          first =
              std::min(first, saved_value(trace_, step_.lifetimes, write.value)->first_backward);
          last = std::max(last, life.last_read());
        }
      }
      if (last < 0) continue;
      for (const Use& read : trace_.reads(op)) {
        if (read.side_effect) continue;
        first_replay_[read.value.slot()] = std::min(first_replay_[read.value.slot()], first);
        last_replay_[read.value.slot()] = std::max(last_replay_[read.value.slot()], last);
      }
    }
  }

  void drop_dead(GapDecisions& decisions) const {
    for (std::size_t i = 0; i < trace_.values().size(); ++i) {
      const auto value = make_id<ValueId>(i);
      const trace::Lifetime& life = step_.lifetimes.of(value);
      const Tick last_use = life.last_read();
      if (life.at_end || last_use < 0 || life.dies <= last_use || last_replay_[i] >= 0) continue;
      if (step_.reach.can_drop(value)) decisions.drops.push_back({value, last_use});
    }
  }

  void offload(GapDecisions& decisions) const {
    auto weighed = weigh_gaps(problem_, step_.lifetimes, step_.costs, decisions, max_replays());
    if (!weighed) return;
    std::vector<SavedValue> checkpoints;
    for (SavedValue saved : step_.checkpoints) {
      saved.first_backward = std::min(saved.first_backward, first_replay_[saved.value.slot()]);
      if (saved.first_backward > saved.last_forward + 1) checkpoints.push_back(saved);
    }
    decisions.swaps = move_least_recently_used(checkpoints, step_.costs, problem_.budget_bytes,
                                               weighed->tick_bytes);
    prefetch(checkpoints, decisions.swaps, weighed->tick_bytes);
  }

  // Each comes back with the backward pass of the checkpoint above it, moved or not.
  void prefetch(const std::vector<SavedValue>& checkpoints, std::vector<SwapDecision>& swaps,
                std::vector<std::int64_t>& tick_bytes) const {
    std::size_t i = 0;
    for (SwapDecision& swap : swaps) {
      while (checkpoints[i].value != swap.value) ++i;
      const Tick above = i + 1 < checkpoints.size() ? checkpoints[i + 1].first_backward
                                                    : backward_start(trace_, step_.lifetimes);
      fetch_early(swap, std::min(above, swap.need), step_.costs.value(swap.value),
                  problem_.budget_bytes, tick_bytes);
    }
  }

  Plan finish(const GapDecisions& decisions) const {
    auto written = write_gaps_by(AlgorithmRule::kWithinBudget, problem_, step_.algorithms,
                                 decisions, max_replays());
    LT_CHECK(written, "what was weighed can be written");
    return finish_plan(problem_, "superneurons", *std::move(written));
  }

  const Problem& problem_;
  SuperneuronsOptions options_;
  const SuperneuronsStep step_;
  const Trace& trace_;
  std::size_t most_dropped_ = 0;
  // By value: the segment of a cheap layer's result; -1 for all others.
  std::vector<std::int32_t> segment_of_;
  std::vector<Tick> first_replay_;
  std::vector<Tick> last_replay_;
  std::int64_t least_peak_bytes_ = std::numeric_limits<std::int64_t>::max();
};

class Superneurons final : public Policy {
 public:
  explicit Superneurons(const SuperneuronsOptions& options) : options_(options) {}

  PlanOutcome plan(const Problem& problem) const override {
    std::int64_t reached_bytes = std::numeric_limits<std::int64_t>::max();
    if (std::optional<Plan> plan = first_plan(problem, reached_bytes)) return *std::move(plan);
    return Refusal{.reason = base::concat("with all that may leave gone the step takes ",
                                          base::format_bytes(reached_bytes)),
                   .smallest_budget_bytes = find_smallest(problem, reached_bytes)};
  }

 private:
  // Where segments that are kept by their bytes do not fit, none is kept.
  std::optional<Plan> first_plan(const Problem& problem, std::int64_t& least_peak_bytes) const {
    std::vector<SegmentRule> rules = {options_.segments};
    const bool may_keep_none =
        options_.segments == SegmentRule::kCostAware && options_.may_recompute;
    if (may_keep_none) rules.push_back(SegmentRule::kMemory);
    SuperneuronsOptions options = options_;
    for (const SegmentRule rule : rules) {
      options.segments = rule;
      Planner planner(problem, options);
      if (std::optional<Plan> plan = planner.plan()) return plan;
      least_peak_bytes = std::min(least_peak_bytes, planner.least_peak_bytes());
    }
    return std::nullopt;
  }

  std::int64_t find_smallest(const Problem& problem, std::int64_t reached_bytes) const {
    const auto works = [&](std::int64_t budget) {
      Problem larger = problem;
      larger.budget_bytes = budget;
      std::int64_t least_peak_bytes = budget;
      return first_plan(larger, least_peak_bytes).has_value();
    };
    if (works(reached_bytes)) return reached_bytes;
    const auto plain = plan::memory_bounds(*problem.trace, problem.machine).plain_peak_bytes;
    return smallest_budget(reached_bytes, plain, works);
  }

  SuperneuronsOptions options_;
};

}  // namespace

std::unique_ptr<Policy> make_superneurons(const PolicyOptions& options) {
  OptionReader reader("superneurons", options);
  SuperneuronsOptions parsed;
  parsed.may_offload =
      reader.choice<bool>("offload", parsed.may_offload, {{"yes", true}, {"no", false}});
  parsed.may_recompute =
      reader.choice<bool>("recompute", parsed.may_recompute, {{"yes", true}, {"no", false}});
  parsed.segments = reader.choice<SegmentRule>("segments", parsed.segments,
                                               {{"cost_aware", SegmentRule::kCostAware},
                                                {"speed", SegmentRule::kSpeed},
                                                {"memory", SegmentRule::kMemory}});
  reader.finish();
  return std::make_unique<Superneurons>(parsed);
}

}  // namespace lowtide::policy
