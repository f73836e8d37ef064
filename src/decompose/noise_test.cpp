// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "decompose/noise.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace lowtide::decompose {
namespace {

TEST(Noise, AWeightAsItIsInitialisedIsNoiseAndOneWithSomethingLearntIsNot) {
  torch::manual_seed(1);
  const std::vector<at::Tensor> fresh = {
      torch::nn::Linear(300, 100)->weight, torch::nn::Linear(64, 64)->weight,
      torch::nn::Conv2d(32, 64, 3)->weight, at::randn({48, 96}) * 0.02};
  for (const at::Tensor& weight : fresh) {
    EXPECT_TRUE(is_noise(weight)) << weight.sizes();
    at::Tensor learnt = weight.detach().clone();
    // One direction with a third of all squares.
    const at::Tensor direction =
        at::randn({weight.size(0), 1}).matmul(at::randn({1, weight[0].numel()}));
    learnt += 0.7 * learnt.norm() / direction.norm() * direction.view_as(learnt);
    EXPECT_FALSE(is_noise(learnt)) << weight.sizes();
  }
  // Nobody could tell of so small a one.
  EXPECT_FALSE(is_noise(at::randn({6, 3, 5, 5})));
}

}  // namespace
}  // namespace lowtide::decompose
