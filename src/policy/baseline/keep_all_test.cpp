// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

// 5, 9 and 10 bytes.
constexpr std::string_view kStep = R"(
storage w 1 parameter start end
storage a 4 activation
storage b 4 activation
storage d 1 activation end
op f forward : w -> a
op g forward : a -> b
op h backward : a b -> d
)";

TEST(KeepAll, ItsPlanIsEmptyWhereThePlainStepFits) {
  const TestStep step(kStep, 10);
  const Plan plan = plan_of(step, "keep_all");
  EXPECT_EQ(plan.policy, "keep_all");
  EXPECT_EQ(step.actions(plan), "");
}

TEST(KeepAll, IsRefusedWithThePlainPeakWhereItDoesNot) {
  const PlanOutcome outcome = outcome_of(TestStep(kStep, 9), "keep_all");
  const auto* refusal = std::get_if<Refusal>(&outcome);
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->smallest_budget_bytes, 10);
  EXPECT_EQ(refusal->reason, "the plain step takes 10 B");
}

}  // namespace
}  // namespace lowtide::policy
