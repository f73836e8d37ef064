// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/catalogue.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "lowtide/errors.h"

namespace lowtide::zoo {
namespace {

using testing::HasSubstr;

constexpr ModelOptions kTinyGpt = {
    .layers = 1, .width = 32, .heads = 2, .context = 8, .vocabulary = 20, .dropout = 0.0};

// What make_model says to what it refuses.
std::string refusal(const std::string& name, const ModelOptions& options) {
  try {
    make_model(name, options);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Catalogue, NamesAreThereOnce) {
  std::set<std::string> names;
  for (const ModelInfo& info : catalogue()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.family.empty() || info.paper.empty() || info.summary.empty()) << info.name;
  }
}

TEST(Catalogue, RefusesUnknownNamesWithTheNearest) {
  EXPECT_EQ(refusal("resnet51", {}), "unknown model 'resnet51'; did you mean 'resnet50'?");
  EXPECT_THAT(refusal("abacus", {}),
              testing::StartsWith("unknown model 'abacus'; known are lenet5"));
}

TEST(Catalogue, RefusesOptionsThatAreOfNoUse) {
  EXPECT_THAT(refusal("resnet18", {.heads = 4}),
              HasSubstr("has no use for the option 'heads'; it has: channels, size, classes"));
  EXPECT_THAT(refusal("resnet18", {.dropout = 0.1}), HasSubstr("'dropout'"));
  EXPECT_THAT(refusal("gpt", {.auxiliary = true}), HasSubstr("'auxiliary'"));
}

TEST(Catalogue, RefusesOptionsThatAreImpossible) {
  EXPECT_THAT(refusal("resnet18", {.classes = 0}), HasSubstr("at least 1, not 0"));
  EXPECT_THAT(refusal("gpt", {.dropout = 1.0}), HasSubstr("less than 1, not 1"));
  EXPECT_THAT(refusal("gpt", {.layers = 10001}), HasSubstr("at most 10000, not 10001"));
  EXPECT_THAT(refusal("gpt", {.context = 1'000'000'001}), HasSubstr("at most 1000000000, not"));
  EXPECT_THAT(refusal("gpt", {.width = 100}), HasSubstr("set heads"));
  EXPECT_THAT(refusal("gpt", {.width = 100, .heads = 3}), HasSubstr("heads 3, width 100"));
}

TEST(Catalogue, ModelsBearTheirNameAndShape) {
  const Model model = make_model("gpt", kTinyGpt);
  EXPECT_EQ(model.name, "gpt");
  EXPECT_EQ(model.input.kind, InputKind::kTokens);
  EXPECT_EQ(model.input.context, 8);
  EXPECT_EQ(model.input.vocabulary, 20);
  EXPECT_TRUE(model.module->is_training());
}

TEST(Catalogue, TargetsOfMinusOneHundredDoNotCount) {
  torch::manual_seed(1);
  const Model model = make_model("gpt", kTinyGpt);
  const at::Tensor tokens = torch::randint(20, {2, 8});
  at::Tensor targets = torch::randint(20, {2, 8});
  const at::Tensor scores = model.forward(tokens).slice(1, 0, 4);
  const at::Tensor expected =
      torch::cross_entropy_loss(scores.flatten(0, 1), targets.slice(1, 0, 4).flatten());
  targets.slice(1, 4) = -100;
  EXPECT_TRUE(torch::allclose(model.loss(tokens, targets), expected));
}

}  // namespace
}  // namespace lowtide::zoo
