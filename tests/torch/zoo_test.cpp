// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Each family of the zoo, small, inside a budget: the bits of the plain run.
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "torch/compare.h"
#include "torch/device.h"
#include "torch/training.h"
#include "zoo/catalogue.h"

namespace lowtide::torch_test {
namespace {

constexpr int kSteps = 3;

struct Batch {
  at::Tensor inputs, targets;
};

Batch make_batch(const zoo::InputShape& shape, std::int64_t examples, Data& data) {
  if (shape.kind == zoo::InputKind::kTokens) {
    return {data.integers(0, shape.vocabulary, {examples, shape.context}),
            data.integers(0, shape.vocabulary, {examples, shape.context})};
  }
  const at::Tensor pictures = data.normal({examples, shape.channels, shape.size, shape.size});
  std::vector<std::int64_t> sizes = {examples};
  if (shape.is_dense) sizes = {examples, shape.size, shape.size};
  return {pictures, data.integers(0, shape.classes, sizes)};
}

Program of_model(const std::string& name, const zoo::ModelOptions& options, std::int64_t examples,
                 const std::string& cpu_only = "") {
  const auto make = [=](at::Device device, std::uint64_t seed) {
    torch::manual_seed(seed);
    const zoo::Model model = zoo::make_model(name, options);
    model.module->to(device);
    const auto data = std::make_shared<Data>(device, seed);
    return train(model.module, make_sgd(*model.module), [=](int) {
      const Batch batch = make_batch(model.input, examples, *data);
      return model.loss(batch.inputs, batch.targets);
    });
  };
  return {.name = name, .make = make, .cpu_only = cpu_only};
}

constexpr zoo::ModelOptions kWords = {
    .layers = 2, .width = 64, .heads = 2, .context = 32, .vocabulary = 50};

// Those whose memory is filled by activations at a small batch already.
std::vector<Program> with_many_activations() {
  return {of_model("cifar_resnet", {}, 16),
          of_model("small_resnet", {}, 16),
          of_model("mobilenet_v2", {.size = 32, .classes = 10}, 8),
          of_model("unet", {.size = 64, .width = 8}, 4,
                   "the loss by pixel has no deterministic kernel there"),
          of_model("lstm", {.width = 64, .context = 16, .vocabulary = 100}, 8,
                   "the libraries' workspaces are most of its memory there"),
          of_model("vit_ti_16", {.size = 64, .classes = 10, .layers = 2}, 8),
          of_model("bert_base", kWords, 8),
          of_model("gpt", kWords, 8)};
}

// Those whose memory is filled by parameters and their gradients, which cannot be recomputed. VGG
// would show nothing that AlexNet does not; of LeNet-5 one op takes most.
std::vector<Program> with_many_parameters() {
  const std::string pooling = "adaptive pooling has no deterministic backward there";
  return {of_model("alexnet", {.size = 63, .classes = 10}, 4, pooling),
          of_model("resnet18", {.size = 32, .classes = 10}, 8),
          of_model("densenet121", {.size = 32, .classes = 10}, 4),
          of_model("googlenet", {.size = 32, .classes = 10}, 4, pooling),
          of_model("inception_v3", {.size = 75, .classes = 10, .auxiliary = false}, 4)};
}

struct Saving {
  Means means;
  int share_percent;
};

using Case = std::tuple<Program, Saving>;

class ZooInsideABudget : public testing::TestWithParam<Case> {};

TEST_P(ZooInsideABudget, GivesTheBitsOfThePlainRun) {
  const auto& [program, saving] = GetParam();
  LT_SKIP_IF(why_skip(program));
  expect_identical(program, kSteps, saving.share_percent, options_for(0, saving.means));
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  const auto& [program, saving] = info.param;
  return program.name + "_" + name_of(saving.means);
}

INSTANTIATE_TEST_SUITE_P(ManyActivations, ZooInsideABudget,
                         testing::Combine(testing::ValuesIn(with_many_activations()),
                                          testing::Values(Saving{Means::kRecompute, 90},
                                                          Saving{Means::kHost, 80},
                                                          Saving{Means::kMixed, 60})),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(ManyParameters, ZooInsideABudget,
                         testing::Combine(testing::ValuesIn(with_many_parameters()),
                                          testing::Values(Saving{Means::kMixed, 60})),
                         name_of_case);

}  // namespace
}  // namespace lowtide::torch_test
