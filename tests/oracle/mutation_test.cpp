// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// verify() against naive_walk(): both must accept the same plans and find the same peaks, for plans
// that policies made and for thousands that were then broken or added to.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "lowtide/policy.h"
#include "lowtide/simulate.h"
#include "mutants.h"
#include "naive_walk.h"
#include "plan/bounds.h"
#include "plan/text.h"
#include "support/policy_cases.h"
#include "support/random_trace.h"
#include "support/sanitizer.h"
#include "support/small_steps.h"
#include "trace/text.h"

namespace lowtide::oracle {
namespace {

class MutationTest : public testing::Test {
 protected:
  // Every other seed: sizes are rounded, host memory is short, lossy is allowed.
  static Problem problem_of(Trace trace, std::uint64_t seed) {
    Problem problem;
    problem.trace = std::make_shared<const Trace>(std::move(trace));
    problem.machine = unit_machine();
    if (seed % 2 == 1) {
      problem.machine.allocator.round_bytes = 4;
      problem.machine.tiers[0].capacity_bytes = 60;
      problem.allow_lossy = true;
    }
    return problem;
  }

  void check_all(Problem problem, std::uint64_t seed) {
    const std::int64_t plain =
        plan::memory_bounds(*problem.trace, problem.machine).plain_peak_bytes;
    for (const support::PolicyCase& policy : support::policy_cases()) {
      for (const std::int64_t percent : {100, 60}) {
        problem.budget_bytes = plain * percent / 100;
        SCOPED_TRACE(policy.name + " at " + std::to_string(percent) + " %");
        PlanOutcome outcome = policy.make()->plan(problem);
        if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
          problem.budget_bytes = refusal->smallest_budget_bytes;
          outcome = policy.make()->plan(problem);
        }
        ASSERT_TRUE(std::holds_alternative<Plan>(outcome));
        check_mutants(problem, std::get<Plan>(outcome), seed);
        if (HasFailure()) return;
      }
    }
  }

  void check_mutants(const Problem& problem, const Plan& plan, std::uint64_t seed) {
    compare(problem, {"as planned", plan}, "planned");
    // With room to spare, so that what a mutant is judged by is not the budget alone.
    Problem roomy = problem;
    roomy.budget_bytes = 2 * problem.budget_bytes + 50;
    for (const Mutant& mutant : broken(plan)) {
      compare(roomy, mutant, "broken");
      compare(problem, mutant, "broken, tight");
    }
    for (const Mutant& mutant : reordered(*problem.trace, plan)) {
      compare(roomy, mutant, "reordered");
    }
    constexpr int kEmbellished = 60;
    for (const Mutant& mutant : embellished(roomy, plan, seed, kEmbellished)) {
      compare(roomy, mutant, "embellished");
    }
  }

  void compare(const Problem& problem, const Mutant& mutant, const char* sort) {
    if (HasFailure()) return;
    const Verdict verdict = verify(problem, mutant.plan);
    const NaiveVerdict naive = naive_walk(problem, mutant.plan);
    Count& count = counts_[sort];
    ++(naive.accepted() ? count.accepted : count.refused);
    const std::string fault = verdict.ok() ? "" : verdict.violations.front().message;
    ASSERT_EQ(verdict.ok(), naive.accepted())
        << mutant.how << "\nverify: " << fault << "\nnaive walk: " << naive.fault << "\n"
        << shown(problem, mutant.plan);
    if (!verdict.ok()) return;
    ASSERT_EQ(verdict.peak_bytes, naive.peak_bytes) << mutant.how << shown(problem, mutant.plan);
    ASSERT_EQ(verdict.tier_peak_bytes, naive.tier_peak_bytes)
        << mutant.how << shown(problem, mutant.plan);
    // The simulator takes every plan that is right, and holds no more than the checker found.
    ASSERT_LE(simulate(problem, mutant.plan).peak_bytes, problem.budget_bytes)
        << mutant.how << shown(problem, mutant.plan);
  }

  static std::string shown(const Problem& problem, const Plan& plan) {
    std::string text = "\n" + trace::print_text(*problem.trace);
    try {
      return text + plan::print_text(plan, problem);
    } catch (const std::exception& fault) {
      return text + fault.what();
    }
  }

  void print_counts() const {
    for (const auto& [sort, count] : counts_) {
      std::printf("%-16s %7d accepted %7d refused\n", sort.c_str(), count.accepted, count.refused);
    }
  }

  struct Count {
    int accepted = 0;
    int refused = 0;
  };
  std::map<std::string, Count> counts_;
};

TEST_F(MutationTest, BothCheckersAgreeOnRandomSteps) {
  constexpr std::uint64_t kSeeds = support::kIsSanitized ? 3 : 24;
  // One seed alone: LT_SEED=17.
  const char* only = std::getenv("LT_SEED");
  const std::uint64_t first = only == nullptr ? 1 : std::strtoull(only, nullptr, 10);
  const std::uint64_t last = only == nullptr ? kSeeds : first;
  for (std::uint64_t seed = first; seed <= last && !HasFailure(); ++seed) {
    SCOPED_TRACE("LT_SEED=" + std::to_string(seed));
    const int ops = 6 + static_cast<int>(seed % 12);
    check_all(problem_of(support::random_trace(seed, ops), seed), seed);
    check_all(problem_of(support::tiny_step(seed), seed), seed);
  }
  print_counts();
  if (only != nullptr) return;
  for (const auto& [sort, count] : counts_) {
    EXPECT_GT(count.accepted, 20 * static_cast<int>(kSeeds)) << sort;
    EXPECT_TRUE(sort == "planned" || count.refused > 20 * static_cast<int>(kSeeds)) << sort;
  }
}

// Hand-made steps with what random ones rarely have: long replays, skips, side effects.
TEST_F(MutationTest, BothCheckersAgreeOnSmallSteps) {
  for (const auto& [name, text] : support::small_steps()) {
    Trace trace = trace::parse_text(text);
    const bool is_quick = !trace.ops().empty() && trace.ops().size() <= 16;
    if (!is_quick || HasFailure()) continue;
    SCOPED_TRACE(name);
    check_all(problem_of(std::move(trace), 2), 1);
  }
  print_counts();
}

// What chance does not find: a is still on its way out while b is encoded, 10 + 10 + 8.
TEST_F(MutationTest, BytesThatLeaveCountWhileAnotherValueIsEncoded) {
  Problem problem = problem_of(
      trace::parse_text("lowtide-trace 1\nname leaving\nstorage a 10 temporary\n"
                        "storage b 10 temporary codec=most:8:1:1\nstorage d 1 temporary end\n"
                        "op f forward : -> a b\nop g forward : ->\nop h backward : a b -> d\n"),
      0);
  problem.budget_bytes = 100;
  const std::string head = "lowtide-plan 1\npolicy hand\ntrace " + digest(*problem.trace);
  const Plan plan = plan::parse_text(head +
                                         "\nbudget 100\nmove a.0 host after 0\n"
                                         "encode b.0 most after 0\ndecode b.0 before 2\n"
                                         "fetch a.0 issue 2 need 2\n",
                                     problem);
  EXPECT_EQ(naive_walk(problem, plan).peak_bytes, 28);
  check_mutants(problem, plan, 1);
}

}  // namespace
}  // namespace lowtide::oracle
