// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "policy/test_nets.h"
#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

// A small net as in the paper's figures: convolution, activation, convolution, pooling.
constexpr std::string_view kStep = R"(
storage x 8 input start
storage w 1 parameter start end
storage a 8 activation
storage b 8 activation
storage c 8 activation
storage d 2 activation
storage g 8 activation
op conv2d forward device=8 : x w -> a
op relu forward : a -> b
op conv2d forward device=8 : b w -> c
op pool forward : c -> d
op pool_backward backward : c d -> g
op conv2d_backward backward device=16 : b w g -> g
op relu_backward backward : a g -> g
op conv2d_backward backward device=16 : x w g -> g
)";

std::string plan_text(std::int64_t budget, const std::string& layers) {
  return actions_of(TestStep(kStep, budget), "vdnn", {{"layers", layers}});
}

TEST(Vdnn, InputsOfConvolutionsLeaveAndComeBackWithTheConvolutionAbove) {
  // x when the second convolution goes back; b with the first op that does.
  EXPECT_EQ(plan_text(100, "conv"),
            "move x.0 host after 0\nmove b.0 host after 2\n"
            "fetch b.0 issue 4 need 5\nfetch x.0 issue 5 need 7\n");
}

TEST(Vdnn, AllLayersInputsLeave) {
  EXPECT_EQ(plan_text(100, "all"),
            "move x.0 host after 0\nmove a.0 host after 1\nmove b.0 host after 2\n"
            "fetch b.0 issue 4 need 5\nfetch a.0 issue 5 need 6\nfetch x.0 issue 6 need 7\n");
}

TEST(Vdnn, DynamicTakesTheFirstThatFits) {
  const std::int64_t nothing = 43;
  EXPECT_EQ(plan_text(nothing, "dynamic"), "");
  EXPECT_EQ(plan_text(nothing - 1, "dynamic"), plan_text(100, "conv"));
  const std::int64_t conv = smallest_budget_of(TestStep(kStep, 2), "vdnn", {{"layers", "conv"}});
  ASSERT_LT(conv, nothing);
  EXPECT_EQ(plan_text(conv - 1, "dynamic"), plan_text(100, "all"));
}

TEST(Vdnn, ARefusalNamesABudgetThatWorks) {
  for (const char* layers : {"dynamic", "conv", "all"}) {
    const std::int64_t smallest =
        smallest_budget_of(TestStep(kStep, 2), "vdnn", {{"layers", layers}});
    ASSERT_GT(smallest, 2);
    plan_of(TestStep(kStep, smallest), "vdnn", {{"layers", layers}});
  }
}

// The same net with algorithms to choose from: as traced with a workspace of 11, quicker with 12
// and slower with none.
std::string with_algorithms() {
  std::string text(kStep);
  const std::string convolution = "op conv2d forward device=8";
  for (std::size_t at = text.find(convolution); at != std::string::npos;
       at = text.find(convolution, at + 1)) {
    text.insert(at + convolution.size(), " workspace=11 option=quick:4:12 option=lean:16:0");
  }
  return text;
}

std::string plan_with_algorithms(std::int64_t budget, const PolicyOptions& options) {
  return actions_of(TestStep(with_algorithms(), budget), "vdnn", options);
}

TEST(Vdnn, AlgorithmsArePerformanceOrMemoryOptimal) {
  EXPECT_EQ(plan_with_algorithms(100, {{"layers", "conv"}, {"algo", "performance"}}),
            plan_text(100, "conv") + "choose 0 quick\nchoose 2 quick\n");
  EXPECT_EQ(plan_with_algorithms(100, {{"layers", "conv"}, {"algo", "memory"}}),
            plan_text(100, "conv") + "choose 0 lean\nchoose 2 lean\n");
}

TEST(Vdnn, DynamicGivesUpWorkspaceLayerByLayerWhenMovingDoesNotDo) {
  // With everything moved, ops 0 and 2 hold 17 bytes beside their workspaces. Op 4 holds 27, since
  // b is on its way back, and that is the floor.
  const std::string moves = plan_text(100, "all");
  EXPECT_EQ(plan_with_algorithms(29, {}), moves + "choose 0 quick\nchoose 2 quick\n");
  EXPECT_EQ(plan_with_algorithms(28, {}), moves);
  EXPECT_EQ(plan_with_algorithms(27, {}), moves + "choose 0 lean\nchoose 2 lean\n");
  const TestStep step(with_algorithms(), 2);
  EXPECT_EQ(smallest_budget_of(step, "vdnn"), 27);
  EXPECT_EQ(smallest_budget_of(step, "vdnn", {{"algo", "performance"}}), 29);
}

// VGG-16 in elements for one picture; activation functions work in place.
const std::vector<NetLayer> kVgg16 = {
    {"conv2d", 3211264}, {"conv2d", 3211264},    {"max_pool2d", 802816}, {"conv2d", 1605632},
    {"conv2d", 1605632}, {"max_pool2d", 401408}, {"conv2d", 802816},     {"conv2d", 802816},
    {"conv2d", 802816},  {"max_pool2d", 200704}, {"conv2d", 401408},     {"conv2d", 401408},
    {"conv2d", 401408},  {"max_pool2d", 100352}, {"conv2d", 100352},     {"conv2d", 100352},
    {"conv2d", 100352},  {"max_pool2d", 25088},  {"addmm", 4096},        {"addmm", 4096},
    {"addmm", 1000}};

// The paper's showcase: VGG-16 with 256 pictures in single precision trains on a card of 12 GB,
// which it does not plainly (28 GB there; 16.9 here, without workspaces). Parameters and their
// gradients take 138 million numbers each.
TEST(Vdnn, Vgg16With256PicturesFitsTheCardOfThePaper) {
  constexpr std::int64_t kCard = std::int64_t{12} << 30;
  constexpr std::int64_t kParameters = 2 * 4 * std::int64_t{138357544};
  constexpr std::int64_t kPictures = 256;
  const std::string vgg = net_text(kVgg16, 150528, 4 * kPictures);
  EXPECT_EQ((smallest_budget_of(TestStep(vgg, 2), "keep_all") + kParameters) / 1'000'000, 16'880);
  for (const char* layers : {"dynamic", "all", "conv"}) {
    const TestStep step(vgg, kCard - kParameters);
    EXPECT_GT(count_of<Move>(plan_of(step, "vdnn", {{"layers", layers}})), 0) << layers;
  }
  // What is left is the way back through the first pooling, with both of its sides and their
  // gradients, while the input of the second convolution is on its way.
  EXPECT_EQ(smallest_budget_of(TestStep(vgg, 2), "vdnn"),
            1 + 4 * kPictures * (3 * std::int64_t{3211264} + 2 * std::int64_t{802816}));
}

TEST(Vdnn, WithoutATierNothingCanLeave) {
  TestStep step(kStep, 42);
  step.problem.machine.tiers.clear();
  EXPECT_EQ(smallest_budget_of(step, "vdnn"), 43);
}

}  // namespace
}  // namespace lowtide::policy
