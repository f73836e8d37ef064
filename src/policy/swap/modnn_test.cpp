// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/swap/modnn.h"

#include <gtest/gtest.h>

#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

// The second convolution is the fullest op: a saved value lies idle there, and it has a leaner
// algorithm that takes a second longer.
constexpr std::string_view kStep = R"(
storage x 8 input start
storage w 1 parameter start end
storage a 8 activation
storage b 8 activation
storage g 8 temporary
op conv2d forward device=8 : x w -> a
op long forward device=20 : w ->
op conv2d forward device=8 workspace=10 option=lean:9:4 option=leanest:20:0 : a w -> b
op loss forward : b -> g
op long_backward backward device=4 : w g -> g
op conv2d_backward backward device=4 : b w g -> g
op conv2d_backward backward device=4 : x w g -> g
)";

std::string plan_text(std::int64_t budget, const PolicyOptions& options = {}) {
  return actions_of(TestStep(kStep, budget), "modnn", options);
}

TEST(Modnn, WhatAddsLeastTimeIsTakenFirst) {
  EXPECT_EQ(plan_text(35), "");
  // x leaves behind `long` and comes back in time: that costs nothing.
  EXPECT_EQ(plan_text(34), "move x.0 host after 0\nfetch x.0 issue 4 need 6\n");
  // Nothing else is idle there. Of the algorithms the lean one does.
  EXPECT_EQ(plan_text(25), "move x.0 host after 0\nfetch x.0 issue 4 need 6\nchoose 2 lean\n");
}

TEST(Modnn, OptionsForbidTheOneOrTheOther) {
  EXPECT_EQ(plan_text(34, {{"offload", "no"}}), "choose 2 lean\n");
  EXPECT_EQ(plan_text(34, {{"choose", "no"}}), plan_text(34));
  EXPECT_EQ(smallest_budget_of(TestStep(kStep, 2), "modnn", {{"choose", "no"}}), 27);
}

TEST(Modnn, ARefusalNamesABudgetThatWorks) {
  for (const PolicyOptions& options :
       std::vector<PolicyOptions>{{}, {{"offload", "no"}}, {{"choose", "no"}}}) {
    const std::int64_t smallest = smallest_budget_of(TestStep(kStep, 2), "modnn", options);
    ASSERT_GT(smallest, 2);
    plan_of(TestStep(kStep, smallest), "modnn", options);
  }
}

TEST(Modnn, SubBatchesDivideTheWorkspaceOfAConvolution) {
  const TestStep step(kStep, 20);
  const SplitStep split = plan_modnn_split(step.problem, {{"choose", "no"}}, 4);
  ASSERT_TRUE(std::holds_alternative<Plan>(split.outcome));
  const Problem& problem = split.split.problem;
  EXPECT_TRUE(verify(problem, std::get<Plan>(split.outcome)).ok());
  // Op 2 holds 17 bytes beside its workspace: two parts of 5 are too much, four of 3 are not.
  EXPECT_EQ(problem.trace->ops().size(), step.problem.trace->ops().size() + 3);
  EXPECT_EQ(problem.trace->op(OpId{5}).name, "conv2d/3");
  EXPECT_EQ(split.split.op_from[5], OpId{2});
  // Without sub-batches there is none.
  EXPECT_TRUE(std::holds_alternative<Refusal>(
      plan_modnn_split(step.problem, {{"choose", "no"}}, 1).outcome));
}

TEST(Modnn, ARefusalWithSubBatchesNamesABudgetThatWorks) {
  Problem problem = TestStep(kStep, 2).problem;
  const SplitStep refused = plan_modnn_split(problem, {}, 4);
  ASSERT_TRUE(std::holds_alternative<Refusal>(refused.outcome));
  problem.budget_bytes = std::get<Refusal>(refused.outcome).smallest_budget_bytes;
  ASSERT_GT(problem.budget_bytes, 2);
  EXPECT_TRUE(std::holds_alternative<Plan>(plan_modnn_split(problem, {}, 4).outcome));
}

TEST(Modnn, WhereTheStepFitsNothingIsSplit) {
  const TestStep step(kStep, 35);
  const SplitStep split = plan_modnn_split(step.problem, {}, 8);
  EXPECT_EQ(split.split.problem.trace, step.problem.trace);
  EXPECT_TRUE(std::get<Plan>(split.outcome).actions.empty());
}

}  // namespace
}  // namespace lowtide::policy
