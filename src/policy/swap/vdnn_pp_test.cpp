// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

// Three convolutions, which start at seconds 0, 8 and 16, and their backward passes, which start at
// 24, 28 and 32. A copy takes 8 seconds.
constexpr std::string_view kStep = R"(
storage x 8 input start
storage w 1 parameter start end
storage a 8 activation
storage b 8 activation
storage c 8 activation
storage g 8 temporary
op conv2d forward device=8 : x w -> a
op conv2d forward device=8 : a w -> b
op conv2d forward device=8 : b w -> c
op conv2d_backward backward device=4 : b w c -> g free c
op conv2d_backward backward device=4 : a w g -> g
op conv2d_backward backward device=4 : x w g -> g
)";

// Op 3 holds everything.
constexpr std::int64_t kPlainPeak = 41;

std::string plan_text(std::int64_t budget, const PolicyOptions& options) {
  return actions_of(TestStep(kStep, budget), "vdnn_pp", options);
}

TEST(VdnnPp, MovesNoMoreThanTheBudgetAsksFor) {
  EXPECT_EQ(plan_text(kPlainPeak, {}), "");
  // x was used longest ago. It should be on its way from second 24 on, where there is no room.
  EXPECT_EQ(plan_text(kPlainPeak - 1, {}), "move x.0 host after 0\nfetch x.0 issue 4 need 5\n");
}

TEST(VdnnPp, CopiesBackQueueOnTheLink) {
  // x has the link from second 24 on, so a has it before.
  const PolicyOptions all{{"layers", "conv"}, {"moves", "all"}};
  EXPECT_EQ(plan_text(kPlainPeak, all),
            "move x.0 host after 0\nmove a.0 host after 1\n"
            "fetch a.0 issue 2 need 4\nfetch x.0 issue 3 need 5\n");
  // The room in op 3 is a's, which is needed first.
  EXPECT_EQ(plan_text(kPlainPeak - 1, all),
            "move x.0 host after 0\nmove a.0 host after 1\n"
            "fetch a.0 issue 2 need 4\nfetch x.0 issue 4 need 5\n");
}

TEST(VdnnPp, ALeadOfNothingFetchesWhenAsked) {
  EXPECT_EQ(plan_text(100, {{"layers", "conv"}, {"moves", "all"}, {"lead", "0"}}),
            "move x.0 host after 0\nmove a.0 host after 1\n"
            "fetch a.0 issue 4 need 4\nfetch x.0 issue 5 need 5\n");
}

TEST(VdnnPp, EveryOtherConvolutionComesBeforeAll) {
  EXPECT_EQ(plan_text(kPlainPeak, {{"layers", "alternate"}, {"moves", "all"}}),
            "move x.0 host after 0\nfetch x.0 issue 3 need 5\n");
}

TEST(VdnnPp, IsNoSlowerThanVdnn) {
  for (const std::int64_t budget : {40, 33}) {
    const TestStep step(kStep, budget);
    EXPECT_LE(simulate(step.problem, plan_of(step, "vdnn_pp")).seconds,
              simulate(step.problem, plan_of(step, "vdnn")).seconds)
        << budget;
  }
}

TEST(VdnnPp, ARefusalNamesABudgetThatWorks) {
  for (const char* layers : {"dynamic", "alternate", "conv", "all"}) {
    const PolicyOptions options{{"layers", layers}};
    const std::int64_t smallest = smallest_budget_of(TestStep(kStep, 2), "vdnn_pp", options);
    ASSERT_GT(smallest, 2);
    plan_of(TestStep(kStep, smallest), "vdnn_pp", options);
  }
}

}  // namespace
}  // namespace lowtide::policy
