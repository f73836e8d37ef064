// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <torch/torch.h>

// The libtorch that was found is linked whole: kernels, autograd, modules and optimizers.
TEST(LibTorch, TrainsALayer) {
  torch::manual_seed(1);
  torch::nn::Linear layer(3, 1);
  torch::optim::SGD optimizer(layer->parameters(), torch::optim::SGDOptions(0.1));
  const torch::Tensor input = torch::ones({4, 3});
  const float before = layer(input).pow(2).mean().item<float>();
  layer(input).pow(2).mean().backward();
  optimizer.step();
  EXPECT_LT(layer(input).pow(2).mean().item<float>(), before);
}
