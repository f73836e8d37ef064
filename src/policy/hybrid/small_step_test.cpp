// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/small_step.h"

#include <string_view>

#include <gtest/gtest.h>

#include "lowtide/simulate.h"
#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

// Plain: x a = 5, x a b = 9, x a b c = 13, x a c d = 10. If a goes before c is made, tick 2 holds
// x b c = 9, and a has to be made again in 2 seconds, with x and c there: 9.
constexpr std::string_view kStep = R"(
storage x 1 input start end
storage a 4 activation
storage b 4 activation
storage c 4 activation
storage d 1 temporary end
op fa forward device=2 : x -> a
op fb forward device=3 : a -> b
op fc forward device=3 : b -> c
op ga backward device=1 : c a -> d
)";

std::optional<std::vector<Action>> replays_within(std::int64_t budget, std::size_t most_states) {
  const TestStep step(kStep, budget);
  return cheapest_replays(TideStep(step.problem), 0, most_states);
}

TEST(SmallStep, ReplaysNothingWhereAllFits) {
  const std::vector<Action> actions = replays_within(13, 1000).value();
  for (const Action& action : actions) {
    EXPECT_FALSE(std::holds_alternative<lowtide::Run>(action));
  }
}

TEST(SmallStep, ReplaysWhatTheSmallestBudgetTakes) {
  const TestStep step(kStep, 10);
  Plan plan;
  plan.trace_digest = digest(*step.problem.trace);
  plan.budget_bytes = 10;
  plan.actions = replays_within(10, 1000).value();
  EXPECT_TRUE(verify(step.problem, plan).ok());
  EXPECT_EQ(simulate(step.problem, plan).recompute_seconds, 2);
}

TEST(SmallStep, HasNoPlanWhereThereIsNoneOrWithTooFewStates) {
  EXPECT_FALSE(replays_within(9, 1000));
  EXPECT_FALSE(replays_within(10, 2));
}

}  // namespace
}  // namespace lowtide::policy
