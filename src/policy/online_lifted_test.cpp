// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/online_lifted.h"

#include <gtest/gtest.h>

#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

// 14 bytes when t is made, 11 when g reads all three.
constexpr std::string_view kStep = R"(
storage w 1 parameter start end
storage a 3 activation
storage b 3 activation
storage c 3 activation
storage t 4 activation
storage d 1 activation end
op fa forward : w -> a
op fb forward : w -> b
op fc forward : w -> c
op ft forward : w -> t
op g backward : a b c -> d
)";

TEST(LiftedPolicy, NamesItselfAndItsOptionsAsTheOnlineRule) {
  const Plan plan = plan_of(TestStep(kStep, 13), "random", {{"seed", "7"}});
  EXPECT_EQ(plan.policy, "random");
  ASSERT_TRUE(plan.online);
  EXPECT_EQ(plan.online->policy, "random");
  EXPECT_EQ(plan.online->options, (PolicyOptions{{"seed", "7"}}));
}

TEST(LiftedPolicy, IsRefusedWithABudgetThatWorks) {
  for (const char* policy : {"lru", "random", "dtr"}) {
    const PlanOutcome outcome = outcome_of(TestStep(kStep, 10), policy);
    // g reads a, b and c: 11 bytes.
    const auto* refusal = std::get_if<Refusal>(&outcome);
    ASSERT_NE(refusal, nullptr) << policy;
    EXPECT_EQ(refusal->smallest_budget_bytes, 11) << policy;
    EXPECT_NE(refusal->reason.find("no room for"), std::string::npos) << refusal->reason;
    plan_of(TestStep(kStep, refusal->smallest_budget_bytes), policy);
  }
}

TEST(LiftedPolicy, TakesTheLimitOfReplaysFromItsOptions) {
  // 110 replays, as every reader of a finds it dropped.
  std::string storages = "storage w 1 parameter start end\nstorage a 4 activation\n";
  std::string ops = "op f forward : w -> a\n";
  for (int i = 0; i < 110; ++i) {
    const std::string name = "t" + std::to_string(i);
    storages += "storage " + name + " 4 activation\n";
    ops += "op g forward : w -> " + name + "\nop h forward : a ->\n";
  }
  const TestStep step(storages + ops, 5);
  EXPECT_EQ(replays_of(plan_of(step, "lru")), 110);
  // With room for both nothing is replayed.
  EXPECT_EQ(smallest_budget_of(step, "lru", {{"max_replays", "0"}}), 9);
}

}  // namespace
}  // namespace lowtide::policy
