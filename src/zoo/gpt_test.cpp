// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/gpt.h"

#include <stdexcept>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace lowtide::zoo {
namespace {

constexpr GptOptions kTiny = {
    .layers = 2, .width = 32, .heads = 4, .context = 16, .vocabulary = 40, .dropout = 0.1};

TEST(Gpt, HasAsManyParametersAsGpt2) {
  GptOptions one_layer = GptOptions::medium();
  one_layer.layers = 1;
  std::int64_t count = 0;
  for (const at::Tensor& parameter : Gpt(one_layer).parameters()) count += parameter.numel();
  // GPT-2 medium has 24 layers of this size and 354,823,168 parameters.
  EXPECT_EQ(count, 354'823'168 - 23 * 12'596'224);
}

TEST(Gpt, LaterTokensDoNotMatter) {
  torch::manual_seed(1);
  Gpt model(kTiny);
  model.eval();
  const at::Tensor tokens = torch::randint(40, {2, 16});
  at::Tensor other = tokens.clone();
  other.slice(1, 8) = 0;
  const at::Tensor scores = model.forward(tokens).slice(1, 0, 8);
  EXPECT_TRUE(torch::allclose(scores, model.forward(other).slice(1, 0, 8), 1e-4, 1e-5));
}

TEST(Gpt, CheckpointedBlocksGiveTheSameGradients) {
  std::vector<at::Tensor> gradients;
  for (const bool is_on : {false, true}) {
    torch::manual_seed(5);
    Gpt model(kTiny);
    model.checkpoint_blocks(is_on);
    model.forward(torch::randint(40, {2, 16})).pow(2).sum().backward();
    gradients.push_back(model.named_parameters()["h.0.attn.c_attn.weight"].grad());
  }
  EXPECT_TRUE(torch::equal(gradients[0], gradients[1]));
}

TEST(Gpt, RefusesHeadsThatDoNotDivideTheWidth) {
  EXPECT_THROW(Gpt({.layers = 1, .width = 30, .heads = 4}), std::invalid_argument);
}

}  // namespace
}  // namespace lowtide::zoo
