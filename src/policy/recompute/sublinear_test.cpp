// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <cmath>

#include <gtest/gtest.h>

#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

constexpr std::int64_t kLayerBytes = 100;

// Chen's chain: layer i makes a<i> from a<i-1>; its backward pass reads a<i-1> and the gradient.
// With `every` above 1 only each so many layers saves its input.
std::string chain(int layers, int every = 1) {
  std::string storages = "storage w 1 parameter start end\nstorage a0 1 input start end\n";
  std::string forward;
  std::string backward =
      "op loss backward : a" + std::to_string(layers) + " -> g" + std::to_string(layers) + "\n";
  storages += "storage g0 1 gradient end\n";
  for (int i = 1; i <= layers; ++i) {
    const std::string number = std::to_string(i);
    storages += "storage a" + number + " 100 activation\nstorage g" + number + " 1 activation\n";
    forward += "op f forward : w a" + std::to_string(i - 1) + " -> a" + number + "\n";
  }
  for (int i = layers; i > 0; --i) {
    const std::string input = (i - 1) % every == 0 ? " a" + std::to_string(i - 1) : "";
    backward += "op b backward : w" + input + " g" + std::to_string(i) + " -> g" +
                std::to_string(i - 1) + "\n";
  }
  return storages + forward + backward;
}

// Of the smallest plan that a form finds.
struct Smallest {
  std::int64_t peak_bytes = 0;
  std::int64_t replays = 0;
};

Smallest smallest_of(const std::string& trace, const PolicyOptions& options) {
  const std::int64_t budget = smallest_budget_of(TestStep(trace, 1), "sublinear", options);
  const TestStep step(trace, budget);
  const Plan plan = plan_of(step, "sublinear", options);
  return {verify(step.problem, plan).peak_bytes, replays_of(plan)};
}

class SublinearChain : public testing::TestWithParam<int> {};

TEST_P(SublinearChain, SegmentsTakeTwoSquareRootsOfLayersAndOneMoreForwardPass) {
  const int layers = GetParam();
  const Smallest found = smallest_of(chain(layers), {{"form", "segments"}});
  const auto kept = static_cast<std::int64_t>(std::ceil(2 * std::sqrt(layers)));
  EXPECT_LE(found.peak_bytes, (kept + 2) * kLayerBytes) << layers;
  EXPECT_LE(found.replays, layers);
}

TEST_P(SublinearChain, RecursiveFormTakesTheLogarithm) {
  const int layers = GetParam();
  const Smallest found = smallest_of(chain(layers), {{"form", "recursive"}});
  const auto levels = static_cast<std::int64_t>(std::ceil(std::log2(layers)));
  EXPECT_LE(found.peak_bytes, (levels + 3) * kLayerBytes) << layers;
  EXPECT_LE(found.replays, levels * layers);
}

INSTANTIATE_TEST_SUITE_P(Sublinear, SublinearChain, testing::Values(16, 64, 144, 256));

TEST(Sublinear, EveryBudgetThatFitsIsKeptAndLessRoomNeverCostsLess) {
  const std::string trace = chain(64);
  std::int64_t last_replays = 0;
  for (std::int64_t budget = 6700; budget >= 1300; budget -= 300) {
    const TestStep step(trace, budget);
    const Plan plan = plan_of(step, "sublinear");
    EXPECT_GE(replays_of(plan), last_replays) << budget;
    last_replays = replays_of(plan);
  }
  EXPECT_GT(last_replays, 40);
}

TEST(Sublinear, AStepThatFitsIsLeftAlone) {
  EXPECT_EQ(actions_of(TestStep(chain(16), 10'000), "sublinear"), "");
}

TEST(Sublinear, TheLastSegmentIsNotDroppedSinceTheBackwardPassBeginsWithIt) {
  for (const char* form : {"segments", "recursive"}) {
    const PolicyOptions options{{"form", form}};
    const std::int64_t budget = smallest_budget_of(TestStep(chain(16), 1), "sublinear", options);
    const std::string actions = actions_of(TestStep(chain(16), budget), "sublinear", options);
    EXPECT_NE(actions.find("drop a1.0"), std::string::npos) << form;
    EXPECT_EQ(actions.find("drop a16.0"), std::string::npos) << form;
  }
}

TEST(Sublinear, TheRecursiveFormIsTakenOnlyWhereSegmentsDoNotFit) {
  const std::string trace = chain(64);
  const std::int64_t segments =
      smallest_budget_of(TestStep(trace, 1), "sublinear", {{"form", "segments"}});
  const std::int64_t recursive =
      smallest_budget_of(TestStep(trace, 1), "sublinear", {{"form", "recursive"}});
  ASSERT_LT(recursive, segments);
  EXPECT_EQ(actions_of(TestStep(trace, segments), "sublinear"),
            actions_of(TestStep(trace, segments), "sublinear", {{"form", "segments"}}));
  EXPECT_EQ(actions_of(TestStep(trace, recursive), "sublinear"),
            actions_of(TestStep(trace, recursive), "sublinear", {{"form", "recursive"}}));
}

TEST(Sublinear, MoreCutsALevelTakeMoreRoomAndFewerReplays) {
  const Smallest one = smallest_of(chain(64), {{"form", "recursive"}, {"branch", "1"}});
  const Smallest seven = smallest_of(chain(64), {{"form", "recursive"}, {"branch", "7"}});
  EXPECT_GT(seven.peak_bytes, one.peak_bytes);
  EXPECT_LT(seven.replays, one.replays);
}

TEST(Sublinear, WhatCrossesACutIsHeldForTheReplaysBehindItWhereItDiesEarly) {
  // Of four layers one saves its input, so that most values die within the forward pass. With
  // every replay starting at the last saved input it would take 32 of them.
  const Plan plan = plan_of(TestStep(chain(64, 4), 1500), "sublinear", {{"form", "segments"}});
  EXPECT_GT(count_of<Hold>(plan), 0);
  EXPECT_LT(replays_of(plan), 32);
}

TEST(Sublinear, LargeLayersWeighMoreThanSmallOnes) {
  // Eight layers, of which the last two are ten times as large as the others: cutting by bytes and
  // not by count puts a cut between them.
  std::string trace = chain(8);
  for (const char* large : {"a7 100", "a8 100"}) {
    trace.replace(trace.find(large), 6, std::string(large) + "0");
  }
  const Smallest found = smallest_of(trace, {{"form", "segments"}});
  EXPECT_LE(found.peak_bytes, 2500);
}

}  // namespace
}  // namespace lowtide::policy
