// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "policy/test_outcome.h"
#include "solve/milp.h"

namespace lowtide::policy {
namespace {

class Checkmate : public testing::Test {
 protected:
  void SetUp() override {
    if (!solve::has_milp_solver()) GTEST_SKIP() << solve::no_milp_solver();
  }
};

double replay_seconds(const TestStep& step, const std::string& policy,
                      const PolicyOptions& options = {}) {
  return simulate(step.problem, plan_of(step, policy, options)).recompute_seconds;
}

// A chain of six layers of 10 bytes, made in the given seconds.
std::string chain(const std::vector<int>& seconds) {
  std::string storages = "storage w 1 parameter start end\nstorage g 1 gradient end\n";
  std::string forward;
  std::string backward;
  std::string last = "w";
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const std::string name = "a" + std::to_string(i);
    storages += "storage " + name + " 10 activation\n";
    forward +=
        "op f forward device=" + std::to_string(seconds[i]) + " : " + last + " -> " + name + "\n";
    backward = "op b backward : " + name + " g -> g\n" + backward;
    last = name;
  }
  return storages + forward + "op loss backward : " + last + " -> g\n" + backward;
}

TEST_F(Checkmate, AStepThatFitsIsLeftAlone) {
  EXPECT_EQ(actions_of(TestStep(chain({1, 1, 1}), 100), "checkmate"), "");
}

// Plain: six layers of 10, w and g: 62. With one layer away at the fullest moment it is the one
// that is made in least time from what is there.
TEST_F(Checkmate, DropsWhatIsMadeAgainInLeastTime) {
  EXPECT_EQ(replay_seconds(TestStep(chain({5, 5, 2, 5, 5, 5}), 52), "checkmate"), 2);
  // Two away while the last is made from its neighbour, which therefore is none of them: the third
  // and one that takes 5, although the fifth would take 3.
  EXPECT_EQ(replay_seconds(TestStep(chain({5, 5, 2, 5, 3, 5}), 42), "checkmate"), 7);
}

TEST_F(Checkmate, IsNeverDearerThanOthers) {
  for (const std::int64_t budget : {52, 42, 32}) {
    const TestStep step(chain({3, 1, 4, 1, 5, 9}), budget);
    const double seconds = replay_seconds(step, "checkmate");
    for (const char* other : {"sublinear", "rotor", "dtr", "capuchin"}) {
      TestStep without_tier = step;
      without_tier.problem.machine.tiers.clear();
      const PlanOutcome outcome = outcome_of(without_tier, other);
      if (const auto* plan = std::get_if<Plan>(&outcome)) {
        EXPECT_LE(seconds, simulate(step.problem, *plan).recompute_seconds) << other << budget;
      }
    }
  }
}

TEST_F(Checkmate, ARefusalNamesTheSmallestPeak) {
  // b reads a layer, the one it is made from is replayed, and w and g: two layers at a time.
  const std::int64_t smallest = smallest_budget_of(TestStep(chain({1, 1, 1, 1}), 10), "checkmate");
  EXPECT_EQ(smallest, 22);
  plan_of(TestStep(chain({1, 1, 1, 1}), smallest), "checkmate");
}

TEST_F(Checkmate, ARefusalForWantOfEffortSaysSo) {
  const TestStep step(chain({5, 5, 2, 5, 5, 5}), 52);
  const PlanOutcome outcome = outcome_of(step, "checkmate", {{"effort", "1"}});
  const auto* refusal = std::get_if<Refusal>(&outcome);
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->reason, "nothing below the plain step's peak was found within the effort");
  EXPECT_EQ(refusal->smallest_budget_bytes, 62);
}

TEST_F(Checkmate, WhatIsTooLargeIsRefusedWithThePlainPeak) {
  const TestStep step(chain({1, 1, 1, 1, 1, 1}), 40);
  EXPECT_EQ(smallest_budget_of(step, "checkmate", {{"most_choices", "5"}}), 62);
}

TEST_F(Checkmate, FractionsOfALargeProgrammeCanBeRounded) {
  const TestStep step(chain({5, 5, 2, 5, 5, 5}), 52);
  const auto rounded = [&](const char* allowance) {
    return replay_seconds(step, "checkmate",
                          {{"most_choices", "1"}, {"large", "round"}, {"allowance", allowance}});
  };
  // The fractions leave a tenth of the budget free, less than a layer, so that two are away where
  // one would do.
  EXPECT_EQ(rounded("0.1"), 7);
  EXPECT_GT(rounded("0.4"), rounded("0.1"));
}

TEST_F(Checkmate, WithAWideGapAWorseAnswerIsGoodEnough) {
  const TestStep step(chain({2, 9, 4, 5, 5, 5, 2, 8, 5, 8, 7, 7, 2, 5}), 52);
  EXPECT_GT(replay_seconds(step, "checkmate", {{"gap", "1"}}), replay_seconds(step, "checkmate"));
}

TEST(CheckmateWithoutSolver, PlansWhatFitsAnyway) {
  EXPECT_EQ(actions_of(TestStep(chain({1, 1, 1}), 100), "checkmate"), "");
}

}  // namespace
}  // namespace lowtide::policy
