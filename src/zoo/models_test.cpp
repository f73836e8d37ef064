// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "lowtide/errors.h"
#include "zoo/catalogue.h"

// What holds for the models of all families.

namespace lowtide::zoo {
namespace {

constexpr std::int64_t kBatch = 4;

struct Case {
  std::string name;
  ModelOptions options;
};

void PrintTo(const Case& test, std::ostream* out) { *out << test.name; }

// Each family as small as it comes. No dropout: losses of two steps are compared.
std::vector<Case> small_models() {
  const ModelOptions words = {
      .layers = 2, .width = 32, .heads = 2, .context = 8, .vocabulary = 20, .dropout = 0.0};
  return {{"lenet5", {.size = 16}},
          {"alexnet", {.size = 63, .classes = 5, .dropout = 0.0}},
          {"vgg11_bn", {.size = 32, .classes = 5, .dropout = 0.0}},
          {"resnet18", {.channels = 1, .size = 32, .classes = 5}},
          {"cifar_resnet", {.size = 16, .layers = 8, .width = 8}},
          {"small_resnet", {.channels = 3, .size = 16, .width = 4}},
          {"densenet121", {.size = 29, .classes = 5}},
          {"googlenet", {.size = 15, .classes = 5, .dropout = 0.0}},
          {"inception_v3", {.size = 75, .classes = 5, .dropout = 0.0, .auxiliary = false}},
          {"inception_v4", {.size = 75, .classes = 5, .dropout = 0.0}},
          {"mobilenet_v2", {.size = 32, .classes = 5, .dropout = 0.0}},
          {"unet", {.channels = 3, .size = 32, .classes = 5, .width = 4, .dropout = 0.0}},
          {"lstm", {.layers = 2, .width = 16, .context = 8, .vocabulary = 20, .dropout = 0.0}},
          {"vit_ti_16", {.size = 32, .classes = 5, .layers = 2, .width = 32, .heads = 2}},
          {"bert_base", words},
          {"gpt", words}};
}

struct Batch {
  at::Tensor inputs, targets;
};

Batch make_batch(const InputShape& shape) {
  if (shape.kind == InputKind::kTokens) {
    const std::vector<std::int64_t> sizes = {kBatch, shape.context};
    return {torch::randint(shape.vocabulary, sizes), torch::randint(shape.vocabulary, sizes)};
  }
  const at::Tensor pictures = torch::randn({kBatch, shape.channels, shape.size, shape.size});
  std::vector<std::int64_t> sizes = {kBatch};
  if (shape.is_dense) sizes = {kBatch, shape.size, shape.size};
  return {pictures, torch::randint(shape.classes, sizes)};
}

std::vector<std::int64_t> scores_shape(const InputShape& shape) {
  if (shape.kind == InputKind::kTokens) return {kBatch, shape.context, shape.vocabulary};
  if (shape.is_dense) return {kBatch, shape.classes, shape.size, shape.size};
  return {kBatch, shape.classes};
}

// A step along the gradient that would take off a twentieth of the loss if that were linear.
void descend(const Model& model, const at::Tensor& loss) {
  model.module->zero_grad();
  loss.backward();
  const torch::NoGradGuard no_grad;
  double slope = 0;
  for (const at::Tensor& parameter : model.module->parameters()) {
    slope += parameter.grad().pow(2).sum().item<double>();
  }
  const double rate = 0.05 * loss.item<double>() / slope;
  for (at::Tensor& parameter : model.module->parameters()) {
    parameter.sub_(parameter.grad(), rate);
  }
}

class Models : public testing::TestWithParam<Case> {};

TEST_P(Models, GiveScoresAndLearn) {
  at::set_num_threads(1);  // so little work is done sooner by one
  torch::manual_seed(1);
  const Model model = make_model(GetParam().name, GetParam().options);
  const Batch batch = make_batch(model.input);
  EXPECT_EQ(model.forward(batch.inputs).sizes(), scores_shape(model.input));

  const at::Tensor before = model.loss(batch.inputs, batch.targets);
  EXPECT_EQ(before.dim(), 0);
  at::Tensor loss = before;
  for (int i = 0; i < 3; ++i) {
    descend(model, loss);
    loss = model.loss(batch.inputs, batch.targets);
  }
  EXPECT_LT(loss.item<double>(), before.item<double>());
}

INSTANTIATE_TEST_SUITE_P(Families, Models, testing::ValuesIn(small_models()),
                         [](const auto& param) { return param.param.name; });

TEST(Models, AuxiliaryHeadsHaveTheirPartInTheLossWhileTraining) {
  at::set_num_threads(1);
  torch::manual_seed(1);
  const Model model = make_model("googlenet", {.size = 32, .classes = 5, .dropout = 0.0});
  const Batch batch = make_batch(model.input);
  const auto loss_of_head = [&] {
    return torch::cross_entropy_loss(model.forward(batch.inputs), batch.targets).item<double>();
  };
  const auto whole_loss = [&] { return model.loss(batch.inputs, batch.targets).item<double>(); };
  // What the two heads add at first is about 0.3 ln 5 each.
  EXPECT_NEAR(whole_loss() - loss_of_head(), 0.97, 0.2);
  model.module->eval();
  EXPECT_NEAR(whole_loss(), loss_of_head(), 1e-6);
}

TEST(Models, RefuseShapesThatAreImpossible) {
  const std::vector<std::pair<Case, std::string>> cases = {
      {{"cifar_resnet", {.layers = 21}}, "6n+2 layers"},
      {{"cifar_resnet", {.layers = 2}}, "6n+2 layers"},
      {{"unet", {.size = 40}}, "multiple of 16, not 40"},
      {{"vit_b_16", {.size = 100}}, "multiple of the patches', 16, not 100"},
      {{"vit_b_16", {.heads = 7}}, "heads 7, width 768"},
      {{"bert_base", {.width = 100}}, "set heads"},
      {{"lenet5", {.size = 15}}, "at least 16, not 15"},
      {{"alexnet", {.size = 62}}, "at least 63"},
      {{"vgg16", {.size = 31}}, "at least 32"},
      {{"densenet121", {.size = 28}}, "at least 29"},
      {{"googlenet", {.size = 14}}, "at least 15"},
      {{"inception_v3", {.size = 298}}, "at least 299"},
      {{"inception_v3", {.size = 74, .auxiliary = false}}, "at least 75"},
      {{"inception_v4", {.size = 74}}, "at least 75"},
  };
  for (const auto& [test, message] : cases) {
    try {
      make_model(test.name, test.options);
      ADD_FAILURE() << test.name << " was made";
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(message)) << test.name;
    }
  }
}

}  // namespace
}  // namespace lowtide::zoo
