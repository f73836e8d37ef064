// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

// Three layers there and back: 15 bytes in fd and gd, 12 in fc, 11 in gc, 8 in fb. `codec` stands
// behind the storage of the second. A copy of it takes the disk 8 seconds.
std::string step_text(const std::string& codec = "", const std::string& seconds = "3") {
  std::string text = R"(
storage x 1 input start
storage a 4 activation
storage c 4 activation
storage d 3 activation
storage b 4 activation )" +
                     codec + R"(
op fa forward device=T : x -> a
op fb forward device=T : a -> b
op fc forward device=T : b -> c
op fd forward device=T : c -> d
op gd backward device=T : c d -> d free c
op gc backward device=T : b d -> d free b
op gb backward device=T : a d -> d
)";
  for (auto at = text.find('T'); at != std::string::npos; at = text.find('T')) {
    text.replace(at, 1, seconds);
  }
  return text;
}

TEST(FlashNeuron, TheFirstThatAreMadeGoToDiskUntilTheRestFits) {
  EXPECT_EQ(actions_of(TestStep(step_text(), 15), "flashneuron"), "");
  EXPECT_EQ(actions_of(TestStep(step_text(), 14), "flashneuron"),
            "move a.0 disk after 1\nfetch a.0 issue 5 need 6\n");
  EXPECT_EQ(actions_of(TestStep(step_text(), 10), "flashneuron"),
            "move a.0 disk after 1\nmove b.0 disk after 2\n"
            "fetch b.0 issue 5 need 5\nfetch a.0 issue 6 need 6\n");
}

TEST(FlashNeuron, ToHostMemoryIfAskedOrIfThereIsNoDisk) {
  TestStep step(step_text(), 14);
  const std::string to_host = "move a.0 host after 1\nfetch a.0 issue 5 need 6\n";
  EXPECT_EQ(actions_of(step, "flashneuron", {{"to", "host"}}), to_host);
  step.problem.machine.tiers.resize(1);
  EXPECT_EQ(actions_of(step, "flashneuron"), to_host);
}

TEST(FlashNeuron, WhenCopiesShowWhatCompressesBestGoesInstead) {
  // With ops of three seconds both passes are longer than a copy of a, with ops of one they are
  // not.
  const std::string codec = "codec=zip:1:0:0";
  EXPECT_EQ(actions_of(TestStep(step_text(codec), 13), "flashneuron"),
            "move a.0 disk after 1\nfetch a.0 issue 5 need 6\n");
  EXPECT_EQ(actions_of(TestStep(step_text(codec, "1"), 13), "flashneuron"),
            "move b.0 disk after 2 codec zip\nfetch b.0 issue 5 need 5\n");
  // Both forms of b together do not fit, and a takes its place.
  EXPECT_EQ(actions_of(TestStep(step_text(codec, "1"), 12), "flashneuron"),
            "move a.0 disk after 1\nfetch a.0 issue 5 need 6\n");
}

TEST(FlashNeuron, LossyCodecsNeedLeave) {
  TestStep step(step_text("codec=zip:1:0:0:lossy", "1"), 13);
  EXPECT_EQ(actions_of(step, "flashneuron").find("zip"), std::string::npos);
  step.problem.allow_lossy = true;
  EXPECT_NE(actions_of(step, "flashneuron").find("zip"), std::string::npos);
}

TEST(FlashNeuron, SmallValuesAreLeftAlone) {
  const TestStep step(R"(
storage s 1 activation
storage a 40 activation
storage b 40 activation
storage c 10 activation
op f0 forward : -> s
op f1 forward : s -> a
op f2 forward : a -> b
op f3 forward : b -> c
op g3 backward : b c ->
op g2 backward : a ->
op g1 backward : s ->
)",
                      90);
  const auto first_move = [&](const char* share) {
    const std::string actions = actions_of(step, "flashneuron", {{"ignore_below", share}});
    return actions.substr(0, actions.find('\n'));
  };
  EXPECT_EQ(first_move("0"), "move s.0 disk after 1");
  EXPECT_EQ(first_move("0.5"), "move a.0 disk after 2");
}

TEST(FlashNeuron, ADiskTakesNoMoreThanItHolds) {
  TestStep step(step_text(), 10);
  step.problem.machine.tiers.back().capacity_bytes = 5;
  EXPECT_EQ(smallest_budget_of(step, "flashneuron"), 11);
}

TEST(FlashNeuron, ARefusalNamesABudgetThatWorks) {
  const std::int64_t smallest = smallest_budget_of(TestStep(step_text(), 2), "flashneuron");
  EXPECT_EQ(smallest, 8);
  plan_of(TestStep(step_text(), smallest), "flashneuron");
  TestStep step(step_text(), 2);
  step.problem.machine.tiers.clear();
  EXPECT_EQ(smallest_budget_of(step, "flashneuron"), 15);
}

}  // namespace
}  // namespace lowtide::policy
