// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>

#include <gtest/gtest.h>

#include "lowtide/policy.h"
#include "sim/test_step.h"

// For the tests of this folder: what a policy of the catalogue answers to a small step.

namespace lowtide::policy {

using sim::TestStep;

inline PlanOutcome outcome_of(const TestStep& step, std::string_view policy,
                              const PolicyOptions& options = {}) {
  return policy_named(policy).make(options)->plan(step.problem);
}

// The plan, which must be there and pass the checker.
inline Plan plan_of(const TestStep& step, std::string_view policy,
                    const PolicyOptions& options = {}) {
  PlanOutcome outcome = outcome_of(step, policy, options);
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
    ADD_FAILURE() << policy << " refuses " << step.problem.budget_bytes
                  << " bytes: " << refusal->reason;
    return step.plan("");
  }
  Plan plan = std::get<Plan>(std::move(outcome));
  EXPECT_EQ(step.faults(plan), "");
  return plan;
}

inline std::string actions_of(const TestStep& step, std::string_view policy,
                              const PolicyOptions& options = {}) {
  return step.actions(plan_of(step, policy, options));
}

// The smallest budget of a refusal, which must be there; -1 if there is a plan.
inline std::int64_t smallest_budget_of(const TestStep& step, std::string_view policy,
                                       const PolicyOptions& options = {}) {
  const PlanOutcome outcome = outcome_of(step, policy, options);
  const auto* refusal = std::get_if<Refusal>(&outcome);
  return refusal == nullptr ? -1 : refusal->smallest_budget_bytes;
}

template <class ActionType>
std::int64_t count_of(const Plan& plan) {
  return std::count_if(plan.actions.begin(), plan.actions.end(), [](const Action& action) {
    return std::holds_alternative<ActionType>(action);
  });
}

// Named here, since Run is something else inside a test.
inline std::int64_t replays_of(const Plan& plan) { return count_of<lowtide::Run>(plan); }

}  // namespace lowtide::policy
