// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Random changes to what is kept, on random traces: the plan that comes of it is right and holds
// exactly the bytes that were counted along the way, and undoing all of it leads back.
#include "policy/hybrid/kept_spans.h"

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "lowtide/policy.h"
#include "plan/bounds.h"
#include "plan/text.h"
#include "policy/hybrid/spans_plan.h"
#include "support/random_trace.h"
#include "trace/text.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

class AnySpans {
 public:
  explicit AnySpans(std::uint64_t seed) : random_(seed) {
    problem.trace = std::make_shared<const Trace>(
        support::random_trace(seed, 10 + static_cast<int>(random_.below(50))));
    problem.machine = unit_machine();
    problem.machine.allocator.round_bytes = static_cast<std::int64_t>(1 + random_.below(4));
    const std::int64_t plain =
        plan::memory_bounds(*problem.trace, problem.machine).plain_peak_bytes;
    // It decides only which sources may be held.
    problem.budget_bytes = plain * static_cast<std::int64_t>(5 + random_.below(15)) / 20;
    step = std::make_unique<TideStep>(problem);
    spans = std::make_unique<KeptSpans>(*step, 0, std::vector<AwayValue>{});
  }

  void change_something() {
    const ValueId value = make_id<ValueId>(random_.below(problem.trace->values().size()));
    if (!spans->can_change(value)) return;
    const auto tick =
        static_cast<Tick>(random_.below(static_cast<std::uint64_t>(step->lifetimes.end()) + 1));
    if (const std::optional<KeptSpans::Gap> gap = spans->gap_around(value, tick)) {
      spans->let_go(value, gap->from, gap->to);
    } else if (!spans->is_kept_into(value, tick) && spans->is_used(value, tick)) {
      spans->keep(value, spans->last_there(value, tick), tick);
    }
    spans->settle();
  }

  Plan plan() const {
    Plan plan;
    plan.policy = "test";
    plan.trace_digest = digest(*problem.trace);
    plan.budget_bytes = problem.budget_bytes;
    plan.actions = actions_of(*step, *spans);
    return plan;
  }

  Problem problem;
  std::unique_ptr<TideStep> step;
  std::unique_ptr<KeptSpans> spans;

 private:
  base::Random random_;
};

void check(const AnySpans& any) {
  Problem roomy = any.problem;
  roomy.budget_bytes = std::int64_t{1} << 50;
  const Plan plan = any.plan();
  const Verdict verdict = verify(roomy, plan);
  ASSERT_TRUE(verdict.ok()) << verdict.violations.front().message << "\n"
                            << trace::print_text(*any.problem.trace)
                            << plan::print_text(plan, any.problem);
  ASSERT_EQ(verdict.peak_bytes, any.spans->bytes().max())
      << trace::print_text(*any.problem.trace) << plan::print_text(plan, any.problem);
  double seconds = 0;
  for (const Action& action : plan.actions) {
    if (const auto* run = std::get_if<Run>(&action))
      seconds += any.step->replay_seconds(run->op, 0);
  }
  ASSERT_NEAR(any.spans->replay_seconds(), seconds, 1e-9);
}

TEST(KeptSpansProperty, WhateverChangesThePlanIsRightAndItsBytesAreThoseCounted) {
  // One seed alone: LT_SEED=17.
  const char* only = std::getenv("LT_SEED");
  const std::uint64_t first = only == nullptr ? 1 : std::strtoull(only, nullptr, 10);
  const std::uint64_t last = only == nullptr ? 300 : first;
  for (std::uint64_t seed = first; seed <= last && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("LT_SEED=" + std::to_string(seed));
    AnySpans any(seed);
    const Plan plain = any.plan();
    for (int change = 0; change < 30 && any.spans->is_possible(); ++change) {
      any.change_something();
      if (any.spans->is_possible() && change % 5 == 0) check(any);
    }
    any.spans->undo_to(0);
    ASSERT_TRUE(any.spans->is_possible());
    EXPECT_EQ(any.plan(), plain);
    EXPECT_NEAR(any.spans->replay_seconds(), 0, 1e-9);
  }
}

// A plan as spans and back: right, and of no other ops than the plan replays.
TEST(KeptSpansProperty, PlansOfOthersCanBeFollowed) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    AnySpans any(seed);
    for (const char* policy : {"dtr", "sublinear"}) {
      const PlanOutcome outcome = policy_named(policy).make({})->plan(any.problem);
      const auto* plan = std::get_if<Plan>(&outcome);
      if (plan == nullptr) continue;
      AnySpans same(seed);
      follow_plan(*same.step, *plan, *same.spans);
      if (same.spans->is_possible()) check(same);
    }
  }
}

}  // namespace
}  // namespace lowtide::policy
