// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "policy/test_outcome.h"
#include "solve/milp.h"

namespace lowtide::policy {
namespace {

class Autotm : public testing::Test {
 protected:
  void SetUp() override {
    if (!solve::has_milp_solver()) GTEST_SKIP() << solve::no_milp_solver();
  }
};

// a and b are idle beside two long ops, with the fullest moment between those: w a b c g, 20 bytes.
// Of 8 and 4 bytes, the copies of b take half as long.
constexpr std::string_view kStep = R"(
storage w 1 parameter start end pinned
storage a 8 activation
storage b 4 activation
storage t 1 temporary
storage c 6 activation
storage g 1 gradient end
op fa forward : w -> a
op fb forward : w -> b
op ft forward device=10 : w -> t
op fc forward : w -> c
op gc backward : c -> g
op gt backward device=40 : g -> g
op gb backward : b g -> g
op ga backward : a g -> g
)";

TEST_F(Autotm, AStepThatFitsIsLeftAlone) {
  EXPECT_EQ(actions_of(TestStep(kStep, 100), "autotm"), "");
}

TEST_F(Autotm, MovesTheSmallerOneBesideTheLongOps) {
  const TestStep step(kStep, 17);
  EXPECT_EQ(actions_of(step, "autotm"), "move b.0 host after 1\nfetch b.0 issue 5 need 6\n");
  EXPECT_EQ(simulate(step.problem, plan_of(step, "autotm")).total_stall_seconds(), 0);
}

TEST_F(Autotm, TheLargerOneWhereTheSmallerIsNotEnough) {
  EXPECT_EQ(actions_of(TestStep(kStep, 13), "autotm"),
            "move a.0 host after 0\nfetch a.0 issue 7 need 7\n");
}

TEST_F(Autotm, WithoutTimeBesideOpsTheDeviceWaits) {
  // No long ops: nothing can be copied beside them, so the move is a synchronous one.
  std::string trace(kStep);
  for (const char* device : {" device=10", " device=40"}) trace.erase(trace.find(device), 10);
  EXPECT_EQ(actions_of(TestStep(trace, 17), "autotm"),
            "move b.0 host after 1\nfetch b.0 issue 6 need 6\n");
}

TEST_F(Autotm, ARefusalNamesABudgetThatWorks) {
  const std::int64_t smallest = smallest_budget_of(TestStep(kStep, 3), "autotm");
  ASSERT_GT(smallest, 3);
  plan_of(TestStep(kStep, smallest), "autotm");
}

TEST_F(Autotm, ABudgetOfNoBytesIsOneLikeAnother) {
  plan_of(TestStep("storage w 5 parameter start end\n", 0), "autotm");
}

TEST_F(Autotm, WhatIsNotInTheProgrammeMovesOnlyWhereItMust) {
  const TestStep step(kStep, 10);
  EXPECT_GE(count_of<Move>(plan_of(step, "autotm", {{"gaps", "1"}})), 2);
  EXPECT_EQ(count_of<Move>(plan_of(TestStep(kStep, 17), "autotm", {{"gaps", "1"}})), 1);
}

TEST_F(Autotm, WithoutATierNothingCanLeave) {
  TestStep step(kStep, 19);
  step.problem.machine.tiers.clear();
  EXPECT_EQ(smallest_budget_of(step, "autotm"), 20);
}

TEST_F(Autotm, TheDeviceWaitsForSynchronousMovesOnly) {
  const TestStep step(kStep, 17);
  const Plan waits = plan_of(step, "autotm", {{"form", "synchronous"}});
  EXPECT_EQ(step.actions(waits), "move b.0 host after 1\nfetch b.0 issue 6 need 6\n");
  EXPECT_EQ(simulate(step.problem, waits).total_stall_seconds(), 4);
  EXPECT_EQ(actions_of(step, "autotm", {{"form", "asynchronous"}}), actions_of(step, "autotm"));
}

// Without long ops nothing can be copied beside them.
TEST_F(Autotm, AsynchronousMovesThatDoNotDoAreRefusedAndNotMadeSynchronous) {
  std::string trace(kStep);
  for (const char* device : {" device=10", " device=40"}) trace.erase(trace.find(device), 10);
  const TestStep step(trace, 17);
  EXPECT_EQ(smallest_budget_of(step, "autotm", {{"form", "asynchronous"}}), 20);
  plan_of(step, "autotm", {{"form", "synchronous"}});
}

// Fourteen values, of which four must leave, with times and sizes all different.
TestStep fourteen_values() {
  std::string storages = "storage w 1 parameter start end pinned\nstorage g 1 gradient end\n";
  std::string forward;
  std::string backward;
  for (int i = 0; i < 14; ++i) {
    const std::string name = "a" + std::to_string(i);
    storages += "storage " + name + " " + std::to_string(2 + i * 5 % 8) + " activation\n";
    forward += "op f forward device=" + std::to_string(1 + i * 7 % 12) + " : w -> " + name + "\n";
    backward = "op b backward device=" + std::to_string(1 + i * 11 % 12) + " : " + name +
               (i < 13 ? " g" : "") + " -> g\n" + backward;
  }
  return TestStep(storages + forward + backward, 40);
}

TEST_F(Autotm, ARefusalSaysWhetherItIsForWantOfEffort) {
  const auto reason = [](const TestStep& step, const char* effort) {
    const PlanOutcome outcome =
        outcome_of(step, "autotm", {{"form", "asynchronous"}, {"effort", effort}});
    const auto* refusal = std::get_if<Refusal>(&outcome);
    return refusal == nullptr ? "a plan" : refusal->reason;
  };
  EXPECT_EQ(reason(fourteen_values(), "2000"), "a plan");
  EXPECT_EQ(reason(fourteen_values(), "1"),
            "no plan with copies beside the ops alone was found within the effort (option effort) "
            "for 40 B");
  std::string trace(kStep);
  for (const char* device : {" device=10", " device=40"}) trace.erase(trace.find(device), 10);
  EXPECT_EQ(reason(TestStep(trace, 17), "2000"),
            "copies beside the ops alone do not make the step fit 17 B");
}

TEST_F(Autotm, WithAWideGapTheFirstAnswerIsGoodEnough) {
  const TestStep step = fourteen_values();
  const auto moves_with = [&](const char* gap) {
    return count_of<Move>(plan_of(step, "autotm", {{"gap", gap}}));
  };
  EXPECT_GT(moves_with("1"), moves_with("0.001"));
}

}  // namespace
}  // namespace lowtide::policy
