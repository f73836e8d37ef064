// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/algorithms.h"

#include <gtest/gtest.h>

#include "sim/test_step.h"

namespace lowtide::policy {
namespace {

using sim::TestStep;

TestStep step() {
  return TestStep(R"(
storage x 8 input start
storage a 8 activation
op conv2d forward device=8 workspace=4 option=quick:4:10 option=lean:12:0 option=silly:9:5 : x -> a
op relu forward option=quick:0:10 : a -> a
op conv2d forward device=8 workspace=4 option=cpu:1:0:host option=rough:1:0:inexact : a -> a
)");
}

TEST(ConvolutionAlgorithms, AreThoseThatNoOtherBeatsInTimeAndWorkspace) {
  const ConvolutionAlgorithms algorithms(step().problem);
  ASSERT_EQ(algorithms.ops(), (std::vector<OpId>{OpId{0}, OpId{2}}));
  EXPECT_EQ(algorithms.ways(0), (std::vector<Algorithm>{{0, 4, 10}, {-1, 8, 4}, {1, 12, 0}}));
}

TEST(ConvolutionAlgorithms, OnTheHostOrInexactAreNoneUnlessAllowed) {
  TestStep lossy = step();
  EXPECT_EQ(ConvolutionAlgorithms(lossy.problem).ways(1), (std::vector<Algorithm>{{-1, 8, 4}}));
  lossy.problem.allow_lossy = true;
  EXPECT_EQ(ConvolutionAlgorithms(lossy.problem).ways(1), (std::vector<Algorithm>{{1, 1, 0}}));
}

TEST(ConvolutionAlgorithms, TheQuickestThatHasRoomIsChosen) {
  const ConvolutionAlgorithms algorithms(step().problem);
  const auto implementation = [&](std::int64_t budget) {
    return algorithms.quickest_within(budget, {16, 8, 8, 8}).front().implementation;
  };
  EXPECT_EQ(implementation(26), 0);
  EXPECT_EQ(implementation(25), -1);
  EXPECT_EQ(implementation(19), 1);
  EXPECT_EQ(implementation(1), 1);
}

TEST(ConvolutionAlgorithms, AChoiceCountsInTimesAndWorkspaces) {
  const ConvolutionAlgorithms algorithms(step().problem);
  const cost::CostTable lean = algorithms.costs(algorithms.leanest());
  EXPECT_EQ(lean.op(OpId{0}), 12);
  EXPECT_EQ(lean.workspace(OpId{0}), 0);
  EXPECT_EQ(lean.total_seconds, algorithms.costs(algorithms.as_traced()).total_seconds + 4);
  EXPECT_EQ(algorithms.costs_beside().workspace(OpId{2}), 0);
}

}  // namespace
}  // namespace lowtide::policy
