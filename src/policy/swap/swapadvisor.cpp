// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Huang et al., SwapAdvisor: pushing deep learning beyond the GPU memory limit via smart swapping,
// ASPLOS 2020.
//
// A genetic search over two things at once: an order of the ops, and to which pool of equal slots
// the storages of each size belong. What is swapped follows from these by a rule: what is not used
// for longest leaves, with all next uses known, and comes back as early as link and room allow. The
// simulator says how long the step takes then, and that is what the search minimises. Children
// begin as one parent's order and go on as the other's, and have the pools of small sizes from one
// and those of large sizes from the other; a mutation moves some ops or changes a pool.
//
// Where this departs from the paper: pools are chosen by groups of sizes, not storage by storage,
// and have as many slots as the plan takes at once; who has children is drawn by rank, or with
// selection=roulette by step time as in the paper. The first generation are small changes of the
// traced order, and ops move within a reach, since a random order of a training step takes far more
// memory than the one in which it was written. The search ends after a number of generations, not
// after a time. Where no pools fit the budget, storages take their own bytes and no pools: at the
// latest there, belady's plan is one of those that are rated.
//
// Limits: what is found depends on how long one looks; the defaults take seconds, the paper's
// search half an hour. Pools cost room, and the simulator, which knows of no addresses, gives
// nothing back for it: pools=no is mostly faster. A budget that the traced order cannot keep is
// refused, also where another order could. Neither orders nor pools can be had in eager torch, so
// that the plans are for the simulator.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "lowtide/simulate.h"
#include "policy/factories.h"
#include "policy/fetch_ahead.h"
#include "policy/gap_writer.h"
#include "policy/hybrid/step_clock.h"
#include "policy/idle_gaps.h"
#include "policy/op_precedences.h"
#include "policy/option_reader.h"
#include "policy/storages_to_move.h"
#include "policy/swap/slot_pools.h"
#include "solve/genetic_search.h"
#include "solve/order_variation.h"

namespace lowtide::policy {
namespace {

// Options speak of a step of this many ops; the work of rating one grows with its length.
constexpr std::int64_t kTypicalOps = 1000;
// How many ops one mutation moves at most, and how many the making of a first order.
constexpr std::uint64_t kMovesToMutate = 8;
constexpr std::uint64_t kMovesToMake = 32;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct SwapAdvisorOptions {
  solve::GeneticOptions search;
  std::int32_t reach = 50;
  bool has_pools = true;
};

struct Genome {
  // Ops by index, in the order in which they run.
  std::vector<std::int32_t> order;
  // By group of sizes: the group whose slots it takes, itself or a larger one.
  std::vector<std::int32_t> pools;
};

class SwapAdvisorPlanner {
 public:
  SwapAdvisorPlanner(const Problem& problem, const SwapAdvisorOptions& options)
      : problem_(problem),
        options_(options),
        trace_(*problem.trace),
        costs_(trace_, problem.machine),
        may_move_(storages_to_move(problem)),
        groups_(trace_, problem.machine),
        variation_(static_cast<std::int32_t>(trace_.ops().size()), op_precedences(trace_)) {}

  PlanOutcome plan() const {
    const Genome traced = unchanged();
    const std::int64_t least = least_bytes(traced);
    if (least > problem_.budget_bytes) {
      return Refusal{.reason = base::concat("with everything moved away the step still takes ",
                                            base::format_bytes(least)),
                     .smallest_budget_bytes = least};
    }
    if (options_.has_pools) {
      if (std::optional<Plan> pooled = search(true)) return *std::move(pooled);
    }
    std::optional<Plan> plan = search(false);
    LT_CHECK(plan, "the traced order fits with everything moved away");
    return *std::move(plan);
  }

 private:
  Genome unchanged() const {
    Genome genome;
    genome.order.resize(trace_.ops().size());
    std::iota(genome.order.begin(), genome.order.end(), 0);
    genome.pools.resize(groups_.bytes.size());
    std::iota(genome.pools.begin(), genome.pools.end(), 0);
    return genome;
  }

  // The best plan that is found; nothing if there are pools and none of the first generation fits.
  std::optional<Plan> search(bool pooled) const {
    solve::GeneticTask<Genome> task;
    std::int32_t asked = 0;
    task.make = [&](std::int32_t i, base::Random& random) { return make(i, random); };
    task.cross = cross;
    task.mutate = [&](Genome& genome, base::Random& random) { mutate(genome, random); };
    task.cost = [&](const Genome& genome) {
      const std::optional<Plan> plan = derive(genome, pooled);
      return plan ? simulate(problem_, *plan).seconds : kInfinity;
    };
    task.stop = [&](double least) {
      if (problem_.is_stopped()) return true;
      return ++asked >= options_.search.population && least == kInfinity;
    };
    const auto found = solve::GeneticSearch<Genome>(scaled(), task).run();
    return found.cost < kInfinity ? derive(found.best, pooled) : std::nullopt;
  }

  solve::GeneticOptions scaled() const {
    solve::GeneticOptions result = options_.search;
    const auto ops = std::max(kTypicalOps, static_cast<std::int64_t>(trace_.ops().size()));
    result.generations =
        static_cast<std::int32_t>(std::int64_t{result.generations} * kTypicalOps / ops);
    return result;
  }

  // The first is the step as it was traced with a pool for each size.
  Genome make(std::int32_t i, base::Random& random) const {
    Genome genome = unchanged();
    if (i == 0) return genome;
    move_ops(genome, 1 + random.below(kMovesToMake), random);
    // Every second one has fewer pools, with some sizes in that of the next larger one.
    for (std::size_t g = genome.pools.size(); i % 2 == 0 && g-- > 0;) {
      if (g + 1 < genome.pools.size() && random.below(2) == 0) {
        genome.pools[g] = genome.pools[g + 1];
      }
    }
    return genome;
  }

  static Genome cross(const Genome& a, const Genome& b, base::Random& random) {
    Genome child = b;
    child.order = solve::cross_orders(a.order, b.order, random.below(a.order.size() + 1));
    const auto cut = static_cast<std::ptrdiff_t>(random.below(a.pools.size() + 1));
    std::copy(a.pools.begin(), a.pools.begin() + cut, child.pools.begin());
    return child;
  }

  void mutate(Genome& genome, base::Random& random) const {
    if (genome.pools.empty() || random.below(2) == 0) {
      move_ops(genome, 1 + random.below(kMovesToMutate), random);
      return;
    }
    const std::uint64_t group = random.below(genome.pools.size());
    const std::uint64_t larger = genome.pools.size() - group;
    genome.pools[group] = static_cast<std::int32_t>(group + random.below(larger));
  }

  void move_ops(Genome& genome, std::uint64_t moves, base::Random& random) const {
    for (; moves > 0; --moves) variation_.move_one(genome.order, options_.reach, random);
  }

  std::vector<OpId> sequence_of(const Genome& genome) const {
    std::vector<OpId> sequence;
    sequence.reserve(genome.order.size());
    for (const std::int32_t op : genome.order) sequence.push_back(OpId{op});
    return sequence;
  }

  static GapDecisions all_leave(const Trace& trace, const std::vector<GapGroup>& gaps) {
    GapDecisions decisions;
    for (const GapGroup& group : gaps) leave(trace, group, TierId{0}, decisions);
    return decisions;
  }

  std::int64_t least_bytes(const Genome& genome) const {
    const trace::Lifetimes lifetimes(trace_, sequence_of(genome));
    const auto gaps = idle_gaps(trace_, lifetimes, may_move_);
    return weigh_gaps(problem_, lifetimes, costs_, all_leave(trace_, gaps), 0)->peak_bytes;
  }

  // The plan that follows from a genome; nothing if it does not fit.
  std::optional<Plan> derive(const Genome& genome, bool pooled) const {
    const std::vector<OpId> sequence = sequence_of(genome);
    const trace::Lifetimes lifetimes(trace_, sequence);
    if (pooled) {
      SlotPools pools(problem_, lifetimes, costs_, may_move_, groups_, genome.pools);
      if (pools.total_bytes() > problem_.budget_bytes) return std::nullopt;
      Plan plan = swap(lifetimes, std::ref(pools));
      add_places(pools, plan);
      return plan;
    }
    const auto gaps = idle_gaps(trace_, lifetimes, may_move_);
    const auto least = weigh_gaps(problem_, lifetimes, costs_, all_leave(trace_, gaps), 0);
    LT_CHECK(least, "moved values come back without replays");
    if (least->peak_bytes > problem_.budget_bytes) return std::nullopt;
    return swap(lifetimes, RoomBelow(problem_.budget_bytes, least->tick_bytes, costs_));
  }

  // Belady's rule: what is used again soonest stays.
  Plan swap(const trace::Lifetimes& lifetimes, const TakeRoom& room) const {
    const StepClock clock(problem_, lifetimes.sequence());
    std::vector<GapGroup> gaps = idle_gaps(trace_, lifetimes, may_move_);
    sort_by_idle_seconds(gaps, lifetimes, clock);
    GapDecisions decisions;
    for (const GapGroup& group : gaps) {
      if (!room(if_it_stays(group, lifetimes))) leave(trace_, group, TierId{0}, decisions);
    }
    fetch_ahead(problem_, clock, room, decisions.swaps);
    auto written = write_gaps(problem_, lifetimes, costs_, decisions, 0);
    LT_CHECK(written && written->peak_bytes <= problem_.budget_bytes,
             "what stays was counted, but the step takes ", written ? written->peak_bytes : 0);
    Plan plan = finish_plan(problem_, "swapadvisor", *std::move(written));
    if (!std::is_sorted(lifetimes.sequence().begin(), lifetimes.sequence().end())) {
      plan.actions.emplace_back(Order{lifetimes.sequence()});
    }
    return plan;
  }

  void add_places(const SlotPools& pools, Plan& plan) const {
    for (std::size_t i = 0; i < trace_.values().size(); ++i) {
      const auto value = make_id<ValueId>(i);
      plan.actions.emplace_back(Place{value, pools.pool_of(value), std::nullopt});
    }
  }

  const Problem& problem_;
  const SwapAdvisorOptions& options_;
  const Trace& trace_;
  const cost::CostTable costs_;
  const std::vector<bool> may_move_;
  const SizeGroups groups_;
  const solve::OrderVariation variation_;
};

class SwapAdvisor final : public Policy {
 public:
  explicit SwapAdvisor(const SwapAdvisorOptions& options) : options_(options) {}
  PlanOutcome plan(const Problem& problem) const override {
    return SwapAdvisorPlanner(problem, options_).plan();
  }

 private:
  SwapAdvisorOptions options_;
};

}  // namespace

std::unique_ptr<Policy> make_swapadvisor(const PolicyOptions& options) {
  constexpr std::int64_t kMany = 1'000'000;
  OptionReader reader("swapadvisor", options);
  SwapAdvisorOptions parsed;
  solve::GeneticOptions& search = parsed.search;
  search.population =
      static_cast<std::int32_t>(reader.integer("population", search.population, 1, kMany));
  search.generations =
      static_cast<std::int32_t>(reader.integer("generations", search.generations, 0, kMany));
  search.mutation_rate = reader.number("mutation", search.mutation_rate, 0, 1);
  search.selection = reader.choice<solve::Selection>(
      "selection", search.selection,
      {{"rank", solve::Selection::kByRank}, {"roulette", solve::Selection::kByCost}});
  search.seed = static_cast<std::uint64_t>(
      reader.integer("seed", 1, 0, std::numeric_limits<std::int64_t>::max()));
  parsed.reach = static_cast<std::int32_t>(reader.integer("reach", parsed.reach, 0, kMany));
  parsed.has_pools = reader.choice<bool>("pools", true, {{"yes", true}, {"no", false}});
  reader.finish();
  return std::make_unique<SwapAdvisor>(parsed);
}

}  // namespace lowtide::policy
