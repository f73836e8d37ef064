// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// What torch.compile does under an activation memory budget (min-cut partitioner with a knapsack;
// PyTorch, partitioners.py). A cheapest cut of the forward graph says which values to keep for the
// backward pass; all else that it needs is computed again from them. Some ops are banned from that.
// The bans are lifted step by step until the step fits:
//   1. only passes over memory (casts, activation functions, normalizations …) may be repeated, and
//      not if the result is used far apart: with heavy arithmetic between two forward readers;
//   2. all but heavy arithmetic, random ops and reductions;
//   3. all but heavy arithmetic and random ops;
//   4. of the results of ops that are still banned, a knapsack keeps those that take longest in a
//      share of their bytes. The others are no longer banned, and the cut is made anew, with
//      results that are used far apart banned again, or not if nothing fits so.
//
// Departures. torch is told the share; here several are tried, since the peak need not fall with
// the share. Without a compiler nothing is fused: there is no discount for values that a fused
// kernel would never write, and no ban on long chains of fusible ops. Of torch's solvers there are
// dp and greedy; its ilp has the answer of dp but for the rounding to slots. Random ops may be
// repeated in the last step, since replays have the random state of the original. Replayed values
// stay until the program is through with them, so that a long stretch without a kept value comes
// back as a whole; where that is too much, only the last half, quarter, eighth or nothing of what
// is replayed together stays, and the rest is replayed again when its turn comes. Of the plans that
// were tried and fit, the one that replays least is returned.
//
// Limits: the cut minimizes what is kept between the passes, not the peak.
#include "solve/knapsack.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "plan/replay_reach.h"
#include "plan/source_holds.h"
#include "policy/factories.h"
#include "policy/gap_writer.h"
#include "policy/op_kinds.h"
#include "policy/option_reader.h"
#include "policy/recompute/saved_set.h"
#include "policy/smallest_budget.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

// An op whose results are this much smaller than what it reads is a reduction: little is gained by
// computing it again.
constexpr std::int64_t kReduction = 4;

// How the knapsack is filled: by dynamic programming, or by seconds saved for each byte.
enum class Filling { kDynamic, kGreedy };

enum class Bans { kAllButPasses, kHeavyRandomReductions, kHeavyRandom };

struct KnapsackOptions {
  std::int64_t slots = 10000;
  std::int64_t shares = 16;
  Filling filling = Filling::kDynamic;
  double distance = kPriceOfDistance;
  std::int64_t reduction = kReduction;
};

class Planner {
 public:
  Planner(const Problem& problem, const KnapsackOptions& options)
      : problem_(problem),
        trace_(*problem.trace),
        options_(options),
        lifetimes_(*trace_.lifetimes()),
        costs_(trace_, problem.machine),
        holds_(plan::hold_sources(problem, lifetimes_, costs_)),
        reach_(trace_, lifetimes_, holds_),
        values_(forward_values(trace_, reach_)),
        used_far_apart_(find_used_far_apart()) {}

  PlanOutcome plan() {
    if (!try_decisions({}) && !try_bans()) try_shares();
    if (best_) {
      auto written = write_gaps(problem_, lifetimes_, costs_, *best_, max_replays());
      LT_CHECK(written, "what was weighed can be written");
      return finish_plan(problem_, "knapsack", *std::move(written));
    }
    return Refusal{.reason = base::concat("with every op repeated that may be, the step takes ",
                                          base::format_bytes(smallest_peak_)),
                   .smallest_budget_bytes = smallest_peak_};
  }

 private:
  // The ops that the knapsack chooses from, and what it makes of them.
  struct Choice {
    std::vector<OpId> ops;
    std::vector<solve::Knapsack::Item> items;
    std::int64_t bytes = 0;
  };

  // What replays every op so often is no plan that anybody wants, and takes long to weigh.
  std::int64_t max_replays() const {
    return 8 * static_cast<std::int64_t>(trace_.ops().size()) + 1000;
  }

  bool is_banned(const Op& op, Bans bans) const {
    if (is_compute_heavy(op) || op.random) return true;
    if (bans == Bans::kHeavyRandom) return false;
    return is_reduction(op) || (bans == Bans::kAllButPasses && !is_cheap_pass(op));
  }

  bool is_reduction(const Op& op) const {
    std::int64_t in = 0;
    std::int64_t out = 0;
    for (const Use& read : op.reads) in += costs_.value(read.value);
    for (const Use& write : op.writes) out += costs_.value(write.value);
    return options_.reduction * out < in;
  }

  // By position in values_: whether heavy arithmetic lies between its first and its last reader of
  // the forward pass. Made again, such a value draws in all that lies before the skip.
  std::vector<bool> find_used_far_apart() const {
    std::vector<std::int32_t> heavy_before(1, 0);
    for (const Op& op : trace_.ops()) {
      heavy_before.push_back(heavy_before.back() + (is_compute_heavy(op) ? 1 : 0));
    }
    std::vector<bool> result;
    for (const ForwardValue& value : values_) {
      const auto reads = lifetimes_.of(value.value).reads;
      const Tick first = reads.empty() ? value.last_forward : reads.front();
      result.push_back(first < value.last_forward &&
                       heavy_before[static_cast<std::size_t>(value.last_forward)] >
                           heavy_before[static_cast<std::size_t>(first)]);
    }
    return result;
  }

  // By position in values_.
  std::vector<bool> allowed(Bans bans) const {
    std::vector<bool> result;
    for (const ForwardValue& value : values_) {
      result.push_back(!is_banned(trace_.op(trace_.value(value.value).producer), bans));
    }
    return result;
  }

  void ban_used_far_apart(std::vector<bool>& may_recompute) const {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (used_far_apart_[i]) may_recompute[i] = false;
    }
  }

  SavedSet saved_set(const std::vector<bool>& may_recompute) const {
    return find_saved_set(trace_, costs_, values_, may_recompute, options_.distance);
  }

  bool try_bans() {
    for (const Bans bans :
         {Bans::kAllButPasses, Bans::kHeavyRandomReductions, Bans::kHeavyRandom}) {
      std::vector<bool> may_recompute = allowed(bans);
      if (bans == Bans::kAllButPasses) ban_used_far_apart(may_recompute);
      if (try_set(saved_set(may_recompute))) return true;
    }
    return false;
  }

  void try_shares() {
    const Choice choice = find_choice();
    const auto fill = filling(choice);
    for (const bool far_apart_too : {false, true}) {
      for (std::int64_t i = 0; i < options_.shares; ++i) {
        const double share = static_cast<double>(i) / static_cast<double>(options_.shares);
        const auto capacity = static_cast<std::int64_t>(share * static_cast<double>(choice.bytes));
        try_without(choice, fill(capacity), far_apart_too);
      }
      if (best_) return;
    }
  }

  // By capacity: which of the choice's ops are kept.
  std::function<std::vector<bool>(std::int64_t)> filling(const Choice& choice) const {
    if (options_.filling == Filling::kGreedy) {
      return
          [&choice](std::int64_t capacity) { return solve::fill_greedily(choice.items, capacity); };
    }
    auto knapsack = std::make_shared<const solve::Knapsack>(
        choice.items, choice.bytes, static_cast<std::size_t>(options_.slots));
    return [knapsack](std::int64_t capacity) { return knapsack->best(capacity); };
  }

  Choice find_choice() const {
    Choice choice;
    for (const ForwardValue& forward : values_) {
      const ValueId value = forward.value;
      const OpId op = trace_.value(value).producer;
      if (!is_banned(trace_.op(op), Bans::kHeavyRandom)) continue;
      // The results of one op lie next to each other.
      if (choice.ops.empty() || choice.ops.back() != op) {
        choice.ops.push_back(op);
        choice.items.push_back({0, costs_.op(op)});
      }
      choice.items.back().weight += costs_.value(value);
      choice.bytes += costs_.value(value);
    }
    return choice;
  }

  // Lifts the bans on the ops that are not kept.
  void try_without(const Choice& choice, const std::vector<bool>& kept, bool far_apart_too) {
    std::vector<bool> is_freed(trace_.ops().size(), false);
    for (std::size_t i = 0; i < kept.size(); ++i) is_freed[choice.ops[i].slot()] = !kept[i];
    std::vector<bool> may_recompute = allowed(Bans::kHeavyRandom);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (is_freed[trace_.value(values_[i].value).producer.slot()]) may_recompute[i] = true;
    }
    if (!far_apart_too) ban_used_far_apart(may_recompute);
    try_set(saved_set(may_recompute));
  }

  bool try_set(const SavedSet& set) {
    GapDecisions decisions = decisions_for(set);
    for (const double part : {1.0, 0.5, 0.25, 0.125, 0.0}) {
      decisions.keep_replayed = [this, part](ValueId value, Tick first, Tick last) {
        const auto length = static_cast<double>(last - first + 1);
        return lifetimes_.of(value).born > last - static_cast<Tick>(part * length);
      };
      if (try_decisions(decisions)) return true;
    }
    return false;
  }

  GapDecisions decisions_for(const SavedSet& set) const {
    GapDecisions decisions;
    decisions.holds = holds_;
    for (const std::int32_t position : set.recomputed) {
      const ForwardValue& value = values_[static_cast<std::size_t>(position)];
      if (value.lives_on(lifetimes_)) {
        decisions.drops.push_back({value.value, value.last_forward});
      }
    }
    hold_saved(set, decisions);
    return decisions;
  }

  // A value that is kept may die before the last replay that starts from it.
  void hold_saved(const SavedSet& set, GapDecisions& decisions) const {
    std::vector<Tick> needed(trace_.values().size(), -1);
    for (std::size_t i = set.recomputed.size(); i-- > 0;) {
      const ForwardValue& value = values_[static_cast<std::size_t>(set.recomputed[i])];
      const Tick until = std::max(needed[value.value.slot()], needed_until(trace_, value));
      for (const Use& read : trace_.reads(trace_.value(value.value).producer)) {
        Tick& input = needed[read.value.slot()];
        if (!read.side_effect) input = std::max(input, until);
      }
    }
    for (const std::int32_t position : set.saved) {
      const ValueId value = values_[static_cast<std::size_t>(position)].value;
      const Tick until = needed[value.slot()];
      if (lifetimes_.of(value).dies < until) decisions.holds.push_back({value, until});
    }
  }

  bool try_decisions(GapDecisions decisions) {
    const std::optional<WrittenPlan> weighed =
        weigh_gaps(problem_, lifetimes_, costs_, decisions, max_replays());
    if (!weighed) return false;
    smallest_peak_ = std::min(smallest_peak_, weighed->peak_bytes);
    if (weighed->peak_bytes > problem_.budget_bytes) return false;
    if (!best_ || weighed->replay_seconds < best_seconds_) {
      best_ = std::move(decisions);
      best_seconds_ = weighed->replay_seconds;
    }
    return true;
  }

  const Problem& problem_;
  const Trace& trace_;
  KnapsackOptions options_;
  const trace::Lifetimes& lifetimes_;
  cost::CostTable costs_;
  std::vector<plan::ExtendedLife> holds_;
  plan::ReplayReach reach_;
  std::vector<ForwardValue> values_;
  std::vector<bool> used_far_apart_;
  std::optional<GapDecisions> best_;
  double best_seconds_ = 0;
  std::int64_t smallest_peak_ = std::numeric_limits<std::int64_t>::max();
};

class KnapsackPolicy final : public Policy {
 public:
  explicit KnapsackPolicy(const KnapsackOptions& options) : options_(options) {}

  PlanOutcome plan(const Problem& problem) const override {
    return plan_or_grant(problem, [this](const Problem& p) { return Planner(p, options_).plan(); });
  }

 private:
  KnapsackOptions options_;
};

}  // namespace

std::unique_ptr<Policy> make_knapsack(const PolicyOptions& options) {
  OptionReader reader("knapsack", options);
  KnapsackOptions parsed;
  parsed.slots = reader.integer("slots", parsed.slots, 1, 1'000'000);
  parsed.shares = reader.integer("shares", parsed.shares, 1, 1000);
  parsed.filling = reader.choice<Filling>(
      "solver", parsed.filling, {{"dp", Filling::kDynamic}, {"greedy", Filling::kGreedy}});
  parsed.distance = reader.number("distance", parsed.distance, 1, 10);
  parsed.reduction = reader.integer("reduction", parsed.reduction, 1, 1'000'000);
  reader.finish();
  return std::make_unique<KnapsackPolicy>(parsed);
}

}  // namespace lowtide::policy
