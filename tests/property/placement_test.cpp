// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "lowtide/policy.h"
#include "plan/bounds.h"
#include "support/random_trace.h"

// RapidCheck prints the seed of a failure; RC_PARAMS="seed=..." runs it again.

namespace lowtide::policy {
namespace {

struct Placement {
  const char* policy;
  PolicyOptions options;
};

const Placement kPlacements[] = {{"best_fit", {}},
                                 {"best_fit", {{"searched", "0"}}},
                                 {"best_fit", {{"searched", "5"}}},
                                 {"pushdown", {}}};

// verify() reports two values that overlap while both are there. The arena is no smaller than what
// is there at once, and one byte less is refused.
RC_GTEST_PROP(Placement, LiveValuesNeverOverlap, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>().as("seed of the trace");
  const int ops = *rc::gen::inRange(0, 41).as("ops");
  Problem problem;
  problem.trace = std::make_shared<const Trace>(support::random_trace(seed, ops));
  problem.machine = unit_machine();
  problem.machine.allocator.round_bytes = *rc::gen::inRange(1, 4).as("round_bytes");
  const std::int64_t lower_bound =
      plan::memory_bounds(*problem.trace, problem.machine).plain_peak_bytes;
  for (const Placement& placement : kPlacements) {
    const auto policy = policy_named(placement.policy).make(placement.options);
    problem.budget_bytes = lower_bound - 1;
    const PlanOutcome refused = policy->plan(problem);
    if (lower_bound == 0) continue;
    RC_ASSERT(std::holds_alternative<Refusal>(refused));
    const std::int64_t arena = std::get<Refusal>(refused).smallest_budget_bytes;
    RC_ASSERT(arena >= lower_bound);
    problem.budget_bytes = arena;
    const PlanOutcome granted = policy->plan(problem);
    RC_ASSERT(std::holds_alternative<Plan>(granted));
    const Plan& plan = std::get<Plan>(granted);
    RC_ASSERT(verify(problem, plan).ok());
    std::size_t placed = 0;
    for (const Action& action : plan.actions) placed += std::holds_alternative<Place>(action);
    std::size_t with_bytes = 0;
    for (const Value& value : problem.trace->values()) {
      with_bytes += problem.trace->storage(value.storage).bytes > 0;
    }
    RC_ASSERT(placed == with_bytes);
  }
}

}  // namespace
}  // namespace lowtide::policy
