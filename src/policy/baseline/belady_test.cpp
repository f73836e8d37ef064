// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

// Three layers there and back: what is made first is needed last.
constexpr std::string_view kStep = R"(
storage x 1 input start
storage a 4 activation
storage b 4 activation
storage c 4 activation
storage d 1 activation
op fa forward : x -> a
op fb forward : a -> b
op fc forward : b -> c
op gc backward : c -> d
op gb backward : b d -> d
op ga backward : a d -> d
)";

TEST(Belady, WhatIsNotNeededForLongestGoes) {
  // Room for two activations: the third is that of the layer which comes last. When c is gone, it
  // may come back.
  const TestStep step(kStep, 10);
  EXPECT_EQ(actions_of(step, "belady"), "move a.0 host after 1\nfetch a.0 issue 4 need 5\n");
  EXPECT_EQ(verify(step.problem, plan_of(step, "belady")).peak_bytes, 9);
}

TEST(Belady, WhatFitsStays) { EXPECT_EQ(actions_of(TestStep(kStep, 14), "belady"), ""); }

TEST(Belady, CopiesBackBeginAheadWhereThereIsRoom) {
  // The same, but c is gone long before a is needed.
  const TestStep step(R"(
storage x 1 input start
storage a 4 activation
storage b 4 activation
storage c 4 activation
storage d 1 activation
op fa forward : x -> a
op fb forward : a -> b
op fc forward : b -> c
op gc backward : c -> d free c
op gb backward : b d -> d free b
op g1 backward : d -> d
op g2 backward : d -> d
op g3 backward : d -> d
op ga backward : a d -> d
)",
                      10);
  const std::string actions = actions_of(step, "belady");
  EXPECT_EQ(actions.find("fetch a.0 issue 8"), std::string::npos) << actions;
  EXPECT_NE(actions.find("need 8"), std::string::npos) << actions;
}

TEST(Belady, StatesEndWhereTheyBegin) {
  const TestStep step(R"(
storage s 6 state start end
storage x 1 input start
storage a 4 activation
op fa forward : x -> a
op ga backward : a -> a
op step optimizer : s -> s
)",
                      9);
  const Plan plan = plan_of(step, "belady");
  EXPECT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(step.actions(plan), "starts s host\nfetch s.0 issue 2 need 2\nmove s.1 host after 2\n");
}

TEST(Belady, RefusesWhatEvenItsHungriestOpExceeds) {
  EXPECT_EQ(smallest_budget_of(TestStep(kStep, 7), "belady"), 8);
  EXPECT_EQ(verify(TestStep(kStep, 8).problem, plan_of(TestStep(kStep, 8), "belady")).peak_bytes,
            8);
}

TEST(Belady, WithoutATierNothingMoves) {
  TestStep step(kStep, 14);
  step.problem.machine.tiers.clear();
  EXPECT_EQ(actions_of(step, "belady"), "");
}

}  // namespace
}  // namespace lowtide::policy
