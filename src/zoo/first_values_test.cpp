// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/first_values.h"

#include <cmath>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace lowtide::zoo {
namespace {

TEST(FirstValues, OfConvolutionsKeepTheVarianceOfOneSide) {
  torch::manual_seed(1);
  torch::nn::Sequential net(torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 64, 3)));
  const auto& layer = *net[0]->as<torch::nn::Conv2d>();
  set_convolutions_by_outputs(*net);
  EXPECT_NEAR(layer.weight.std().item<double>(), std::sqrt(2.0 / (64 * 9)), 0.002);
  set_convolutions_by_inputs(*net);
  EXPECT_NEAR(layer.weight.std().item<double>(), std::sqrt(2.0 / (16 * 9)), 0.004);
  EXPECT_FALSE(layer.bias.any().item<bool>());
}

TEST(FirstValues, OfLinearsLeaveOtherLayersAlone) {
  torch::manual_seed(1);
  torch::nn::Sequential net(torch::nn::Linear(100, 100), torch::nn::BatchNorm1d(100));
  set_linears(*net, 0.5);
  EXPECT_NEAR(net[0]->as<torch::nn::Linear>()->weight.std().item<double>(), 0.5, 0.02);
  EXPECT_TRUE(net[1]->as<torch::nn::BatchNorm1d>()->weight.eq(1).all().item<bool>());
}

TEST(FirstValues, AreCutOffAtTwo) {
  torch::manual_seed(1);
  const at::Tensor wide = torch::empty({100'000});
  set_cut_off(wide, 1);
  EXPECT_LE(wide.abs().max().item<double>(), 2);
  // That of a normal distribution without its tails beyond two deviations.
  EXPECT_NEAR(wide.std().item<double>(), 0.8796, 0.01);
  const at::Tensor narrow = torch::empty({100'000});
  set_cut_off(narrow, 0.01);
  EXPECT_NEAR(narrow.std().item<double>(), 0.01, 0.0001);
  EXPECT_LT(narrow.abs().max().item<double>(), 0.1);
}

}  // namespace
}  // namespace lowtide::zoo
