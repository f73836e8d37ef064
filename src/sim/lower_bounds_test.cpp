// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "lowtide/simulate.h"
#include "sim/test_step.h"

namespace lowtide::sim {
namespace {

constexpr std::string_view kStep = R"(
storage x 1 input start end
storage a 6 activation codec=half:3:0:0
storage b 3 activation
storage d 1 activation end
op f0 forward : x -> a
op f1 forward device=5 workspace=2 option=quick:2:0 : a -> b
op f2 forward : a b -> d
)";

TEST(LowerBounds, HungriestOpAndSumOfOps) {
  const TestStep step(kStep);
  const LowerBounds bounds = lower_bounds(step.problem, step.plan(""));
  EXPECT_EQ(bounds.working_set_bytes, 11);  // a b and workspace
  EXPECT_EQ(bounds.working_set_op, OpId{1});
  EXPECT_EQ(bounds.compute_seconds, 7);
  EXPECT_EQ(bounds.transfer_seconds, 0);
  EXPECT_EQ(lower_bounds(step.problem, step.plan("choose 1 quick\n")).compute_seconds, 4);
}

TEST(LowerBounds, BusiestDirectionOfTheBusiestLink) {
  const TestStep step(kStep);
  const struct {
    const char* actions;
    double seconds;
  } rows[] = {{"move a.0 host after 0\nfetch a.0 issue 1 need 1\n", 6},
              {"move a.0 host after 0 codec half\nfetch a.0 issue 1 need 1\n", 3},
              {"move a.0 disk after 0\nfetch a.0 issue 1 need 1\n", 12},
              {"starts x host\nfetch x.0 issue 0 need 0\nmove x.0 host after 2\n", 1},
              {"starts x disk\nfetch x.0 issue 0 need 0\nmove x.0 disk after 2\n", 2},
              {"move a.0 host after 0\nfetch a.0 issue 1 need 1\nmove a.0 host after 1\n"
               "fetch a.0 issue 2 need 2\n",
               12}};
  for (const auto& row : rows) {
    EXPECT_EQ(lower_bounds(step.problem, step.plan(row.actions)).transfer_seconds, row.seconds)
        << row.actions;
  }
}

}  // namespace
}  // namespace lowtide::sim
