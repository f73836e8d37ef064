// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "brute_force.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lowtide/simulate.h"
#include "naive_walk.h"
#include "plan/bounds.h"
#include "plan/text.h"
#include "solve/milp.h"
#include "support/policy_cases.h"
#include "support/random_trace.h"
#include "support/sanitizer.h"
#include "support/small_steps.h"
#include "trace/text.h"

namespace lowtide::oracle {
namespace {

// The unit machine without tiers: nothing but replays can save memory.
Problem problem_of(Trace trace) {
  Problem problem;
  problem.trace = std::make_shared<const Trace>(std::move(trace));
  problem.machine = unit_machine();
  problem.machine.tiers.clear();
  return problem;
}

std::string first_violation(const Verdict& verdict) {
  return verdict.ok() ? "" : verdict.violations.front().message;
}

// How a policy did against the optimum, over all traces and budgets.
struct Score {
  int plans = 0;
  int optimal = 0;
  int refusals = 0;
  double extra_seconds = 0;
  // Of the steps under the best plans.
  double best_seconds = 0;
  // The most that a step takes over what it has to.
  double worst_ratio = 1;
};

class BruteForceTest : public testing::Test {
 protected:
  // The tightest budget, and two between it and the plain peak.
  static std::set<std::int64_t> budgets(std::int64_t smallest, std::int64_t plain) {
    return {smallest, smallest + (plain - smallest) / 3, smallest + 2 * (plain - smallest) / 3};
  }

  void check(const Problem& tightest, std::int64_t plain) {
    const Trace& trace = *tightest.trace;
    const std::int64_t smallest = smallest_budget(trace);
    EXPECT_FALSE(cheapest_replays(trace, smallest - 1));
    for (const std::int64_t budget : budgets(smallest, plain)) {
      Problem problem = tightest;
      problem.budget_bytes = budget;
      const std::optional<Optimum> optimum = cheapest_replays(trace, budget);
      ASSERT_TRUE(optimum) << "budget " << budget;
      SCOPED_TRACE("budget " + std::to_string(budget) + "\n" + trace::print_text(trace) +
                   plan::print_text(optimum->plan, problem));
      check_own_plan(problem, *optimum);
      for (const support::PolicyCase& policy : cases_) {
        check_policy(problem, policy, *optimum, smallest);
      }
    }
  }

  static void check_own_plan(const Problem& problem, const Optimum& optimum) {
    const Verdict verdict = verify(problem, optimum.plan);
    EXPECT_EQ(first_violation(verdict), "");
    EXPECT_EQ(verdict.peak_bytes, optimum.peak_bytes);
    const NaiveVerdict naive = naive_walk(problem, optimum.plan);
    EXPECT_EQ(naive.fault, "");
    EXPECT_EQ(naive.peak_bytes, optimum.peak_bytes);
    const Timeline timeline = simulate(problem, optimum.plan);
    EXPECT_EQ(timeline.recompute_seconds, optimum.replay_seconds);
    EXPECT_EQ(timeline.peak_bytes, optimum.peak_bytes);
  }

  void check_policy(const Problem& problem, const support::PolicyCase& policy,
                    const Optimum& optimum, std::int64_t smallest) {
    SCOPED_TRACE(policy.name);
    Score& score = scores_[policy.name];
    const PlanOutcome outcome = policy.make()->plan(problem);
    if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
      ++score.refusals;
      EXPECT_GT(refusal->smallest_budget_bytes, problem.budget_bytes);
      EXPECT_GE(refusal->smallest_budget_bytes, smallest);
      check_granted(problem, policy, refusal->smallest_budget_bytes);
      return;
    }
    const Plan& plan = std::get<Plan>(outcome);
    EXPECT_EQ(first_violation(verify(problem, plan)), "");
    const double seconds = simulate(problem, plan).recompute_seconds;
    EXPECT_GE(seconds, optimum.replay_seconds) << plan::print_text(plan, problem);
    ++score.plans;
    score.extra_seconds += seconds - optimum.replay_seconds;
    const double best_seconds = simulate(problem, optimum.plan).seconds;
    score.best_seconds += best_seconds;
    score.worst_ratio = std::max(score.worst_ratio, simulate(problem, plan).seconds / best_seconds);
    if (seconds == optimum.replay_seconds) ++score.optimal;
  }

  static void check_granted(Problem problem, const support::PolicyCase& policy,
                            std::int64_t budget) {
    problem.budget_bytes = budget;
    const PlanOutcome outcome = policy.make()->plan(problem);
    ASSERT_TRUE(std::holds_alternative<Plan>(outcome)) << "at " << budget;
    EXPECT_EQ(first_violation(verify(problem, std::get<Plan>(outcome))), "");
  }

  void print_scores() const {
    std::printf("%-24s %6s %8s %8s %14s %6s\n", "policy", "plans", "optimal", "refused",
                "extra s a plan", "worst");
    for (const auto& [name, score] : scores_) {
      const double mean = score.plans == 0 ? 0 : score.extra_seconds / score.plans;
      std::printf("%-24s %6d %8d %8d %14.2f %6.3f\n", name.c_str(), score.plans, score.optimal,
                  score.refusals, mean, score.worst_ratio);
    }
  }

  // It has a plan for each step and budget, and none takes longer than it has to by more than 3 %.
  void check_closeness(const std::string& policy) const {
    const Score& score = scores_.at(policy);
    EXPECT_EQ(score.refusals, 0) << policy;
    EXPECT_LE(score.worst_ratio, 1.03) << policy;
  }

  const std::vector<support::PolicyCase> cases_ = support::policy_cases();
  std::map<std::string, Score> scores_;
};

TEST_F(BruteForceTest, NoPolicyBeatsIt) {
  constexpr std::uint64_t kSeeds = support::kIsSanitized ? 100 : 400;
  // One seed alone: LT_SEED=17.
  const char* only = std::getenv("LT_SEED");
  const std::uint64_t first = only == nullptr ? 1 : std::strtoull(only, nullptr, 10);
  const std::uint64_t last = only == nullptr ? kSeeds : first;
  int evicting = 0;
  for (std::uint64_t seed = first; seed <= last && !HasFailure(); ++seed) {
    for (const bool is_random : {false, true}) {
      SCOPED_TRACE("LT_SEED=" + std::to_string(seed) + (is_random ? " random" : " tiny"));
      const int ops = 5 + static_cast<int>(seed % 5);
      const Problem problem =
          problem_of(is_random ? support::random_trace(seed, ops) : support::tiny_step(seed));
      if (problem.trace->values().size() > 18) continue;
      const std::int64_t plain =
          plan::memory_bounds(*problem.trace, problem.machine).plain_peak_bytes;
      if (smallest_budget(*problem.trace) == plain) continue;
      ++evicting;
      check(problem, plain);
    }
  }
  print_scores();
  std::printf("%d traces on which eviction helps\n", evicting);
  if (only != nullptr) return;
  EXPECT_GT(evicting, static_cast<int>(kSeeds) / 2);
  for (const char* policy : {"tide", "tide_no_floor", "tide_no_swap"}) check_closeness(policy);
  // It replays an op once a tick and in order, which is nearly always enough.
  const Score& solved = scores_["checkmate"];
  if (solve::has_milp_solver()) {
    EXPECT_GE(solved.optimal, solved.plans * 95 / 100);
  }
}

struct HandCase {
  std::int64_t budget_bytes;
  double replay_seconds;
  std::int64_t peak_bytes;
  std::vector<lowtide::Run> runs;
};

// Plain: x a = 5, x a b = 9, x a b c = 13, x a c d = 10. If a goes before c is made, tick 2 holds
// x b c = 9, and a has to be made again in 2 seconds, with x and c there: 9. The last op needs all
// of x a c d.
TEST_F(BruteForceTest, AgreesWithTheHand) {
  const Problem problem = problem_of(trace::parse_text(
      "lowtide-trace 1\nname hand\nstorage x 1 input start end\nstorage a 4 activation\n"
      "storage b 4 activation\nstorage c 4 activation\nstorage d 1 temporary end\n"
      "op fa forward device=2 : x -> a\nop fb forward device=3 : a -> b\n"
      "op fc forward device=3 : b -> c\nop ga backward device=1 : c a -> d\n"));
  EXPECT_EQ(smallest_budget(*problem.trace), 10);
  EXPECT_FALSE(cheapest_replays(*problem.trace, 9));
  const lowtide::Run again{OpId{0}, OpId{3}};
  const std::vector<HandCase> cases{{13, 0, 13, {}}, {12, 2, 10, {again}}, {10, 2, 10, {again}}};
  for (const HandCase& expected : cases) {
    SCOPED_TRACE(expected.budget_bytes);
    const std::optional<Optimum> found = cheapest_replays(*problem.trace, expected.budget_bytes);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->replay_seconds, expected.replay_seconds);
    EXPECT_EQ(found->peak_bytes, expected.peak_bytes);
    std::vector<lowtide::Run> runs;
    for (const Action& action : found->plan.actions) {
      if (const auto* run = std::get_if<lowtide::Run>(&action)) runs.push_back(*run);
    }
    EXPECT_EQ(runs, expected.runs);
  }
}

}  // namespace
}  // namespace lowtide::oracle
