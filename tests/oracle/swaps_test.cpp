// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// tide's search against all ways to spend the gaps between the uses of each value of a tiny step:
// there, dropped, or in the host's memory with the way back begun at any tick. Each way is written
// as a plan and simulated, so that copies, waits and replays count as they do for everybody.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "cost/op_cost.h"
#include "lowtide/policy.h"
#include "lowtide/simulate.h"
#include "plan/bounds.h"
#include "plan/replay_reach.h"
#include "policy/gap_writer.h"
#include "sim/simulation.h"
#include "support/sanitizer.h"
#include "support/small_steps.h"

namespace lowtide::oracle {
namespace {

using policy::GapDecisions;
using trace::Tick;

constexpr double kRefused = std::numeric_limits<double>::infinity();
// Of a step's time.
constexpr double kAllowed = 1.03;
// What one tiny step may take at most: one of 77 takes 15 seconds where 14 do.
constexpr double kWorst = 1.08;
constexpr std::size_t kMostWays = 50'000;
constexpr std::int64_t kMostReplays = 200;

// One value between two of its uses, and what may be done with it meanwhile.
struct Gap {
  ValueId value;
  Tick after = 0;
  Tick need = 0;
  bool may_drop = false;
  bool may_move = false;

  // It stays; it goes; or it moves, to be on its way back from one of the ticks between.
  std::size_t ways() const {
    return 1 + (may_drop ? 1 : 0) + (may_move ? static_cast<std::size_t>(need - after) : 0);
  }
  void decide(std::size_t way, GapDecisions& decisions) const {
    if (way == 0) return;
    if (may_drop && way == 1) {
      decisions.drops.push_back({value, after});
      return;
    }
    const auto issue = after + static_cast<Tick>(way - (may_drop ? 1 : 0));
    decisions.swaps.push_back({value, TierId{0}, after, issue, need});
  }
};

// All ways through a step, for several budgets at once.
class AllWays {
 public:
  explicit AllWays(const Problem& problem)
      : problem_(problem),
        lifetimes_(*problem.trace->lifetimes()),
        costs_(*problem.trace, problem.machine) {
    const plan::ReplayReach reach(*problem.trace, lifetimes_, {});
    for (std::size_t i = 0; i < problem.trace->values().size(); ++i) {
      add_gaps(make_id<ValueId>(i), reach);
    }
  }

  std::size_t ways() const {
    std::size_t ways = 1;
    for (const Gap& gap : gaps_) ways = std::min(kMostWays + 1, ways * gap.ways());
    return ways;
  }

  // The least seconds of the step within each budget.
  std::vector<double> best(const std::vector<std::int64_t>& budgets) {
    std::vector<double> best(budgets.size(), kRefused);
    std::vector<std::size_t> way(gaps_.size(), 0);
    do {
      for (const bool keeps_replayed : {false, true}) {
        GapDecisions decisions;
        decisions.keep_replayed = [=](ValueId, Tick, Tick) { return keeps_replayed; };
        for (std::size_t i = 0; i < gaps_.size(); ++i) gaps_[i].decide(way[i], decisions);
        weigh(decisions, budgets, best);
        if (decisions.drops.empty()) break;
      }
    } while (next(way));
    return best;
  }

 private:
  void add_gaps(ValueId value, const plan::ReplayReach& reach) {
    const trace::Lifetime& life = lifetimes_.of(value);
    if (problem_.trace->storage_of(value).pinned) return;
    Tick after = std::max(life.born, 0);
    std::vector<Tick> needs(life.reads.begin(), life.reads.end());
    if (life.at_end) needs.push_back(lifetimes_.end());
    for (const Tick need : needs) {
      const bool may_move = need > after + 1;
      if (may_move || (need > after && reach.can_drop(value))) {
        gaps_.push_back({value, after, need, reach.can_drop(value), may_move});
      }
      after = std::max(after, need);
    }
    if (after < life.dies && reach.can_drop(value)) {
      gaps_.push_back({value, after, lifetimes_.end() + 1, true, false});
    }
  }

  bool next(std::vector<std::size_t>& way) const {
    for (std::size_t i = 0; i < way.size(); ++i) {
      if (++way[i] < gaps_[i].ways()) return true;
      way[i] = 0;
    }
    return false;
  }

  void weigh(const GapDecisions& decisions, const std::vector<std::int64_t>& budgets,
             std::vector<double>& best) {
    auto written = policy::write_gaps(problem_, lifetimes_, costs_, decisions, kMostReplays);
    if (!written) return;
    const std::int64_t peak = written->peak_bytes;
    const Plan plan = policy::finish_plan(problem_, "all_ways", *std::move(written));
    for (std::size_t i = 0; i < budgets.size(); ++i) {
      if (peak > budgets[i]) continue;
      Problem problem = problem_;
      problem.budget_bytes = budgets[i];
      best[i] = std::min(best[i], sim::simulated_seconds(problem, plan));
    }
  }

  const Problem& problem_;
  const trace::Lifetimes& lifetimes_;
  cost::CostTable costs_;
  std::vector<Gap> gaps_;
};

double seconds_by_tide(Problem problem, std::int64_t budget, const PolicyOptions& options) {
  problem.budget_bytes = budget;
  const PlanOutcome outcome = policy_named("tide").make(options)->plan(problem);
  const auto* plan = std::get_if<Plan>(&outcome);
  return plan == nullptr ? kRefused : sim::simulated_seconds(problem, *plan);
}

TEST(TideIsCloseTo, AllWaysWithSwapsOnTinySteps) {
  if (support::kIsSanitized) GTEST_SKIP() << "figures do not depend on the build";
  Problem problem;
  problem.machine = unit_machine();
  problem.machine.tiers.resize(1);
  problem.machine.tiers[0].write_bytes_per_second = 2;
  problem.machine.tiers[0].read_bytes_per_second = 2;
  int compared = 0;
  double best_seconds = 0;
  double tide_seconds = 0;
  double worst = 1;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    problem.trace = std::make_shared<const Trace>(support::tiny_step(seed));
    AllWays all(problem);
    if (all.ways() > kMostWays) continue;
    const plan::MemoryBounds bounds = plan::memory_bounds(*problem.trace, problem.machine);
    const std::int64_t room = bounds.plain_peak_bytes - bounds.working_set_bytes;
    std::vector<std::int64_t> budgets;
    for (const int third : {0, 1, 2})
      budgets.push_back(bounds.working_set_bytes + third * room / 3);
    const std::vector<double> best = all.best(budgets);
    for (std::size_t i = 0; i < budgets.size(); ++i) {
      if (best[i] == kRefused) continue;
      const double found = seconds_by_tide(problem, budgets[i], {});
      const double alone =
          seconds_by_tide(problem, budgets[i], {{"floor", "no"}, {"last_resort", "no"}});
      if (std::max(found, alone) > kAllowed * best[i]) {
        std::printf("seed %d, budget %d: %.2f s, alone %.2f s, best %.2f s\n",
                    static_cast<int>(seed), static_cast<int>(budgets[i]), found, alone, best[i]);
      }
      ++compared;
      best_seconds += best[i];
      tide_seconds += found;
      worst = std::max(worst, found / best[i]);
    }
  }
  std::printf("%d steps and budgets, %.4f of the best in all, worst %.3f\n", compared,
              tide_seconds / best_seconds, worst);
  EXPECT_GE(compared, 50);
  EXPECT_LE(tide_seconds, kAllowed * best_seconds);
  EXPECT_LE(worst, kWorst);
}

}  // namespace
}  // namespace lowtide::oracle
