// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/small_resnet.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace lowtide::zoo {
namespace {

TEST(SmallResnet, HasAboutThreeHundredThousandParameters) {
  std::int64_t count = 0;
  for (const at::Tensor& parameter : SmallResnet({}).parameters()) count += parameter.numel();
  EXPECT_GT(count, 250'000);
  EXPECT_LT(count, 350'000);
}

TEST(SmallResnet, GivesAScoreForEachClass) {
  SmallResnet model({.classes = 7, .width = 4, .blocks = {1, 1, 1}});
  EXPECT_EQ(model.forward(torch::zeros({3, 1, 28, 28})).sizes(), (std::vector<std::int64_t>{3, 7}));
}

TEST(SmallResnet, LearnsAFewPicturesByHeart) {
  at::set_num_threads(1);  // so little work is done sooner by one
  torch::manual_seed(1);
  SmallResnet model({.width = 4, .blocks = {1, 1, 1}});
  torch::optim::SGD optimizer(model.parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  const at::Tensor pictures = torch::randn({8, 1, 28, 28});
  const at::Tensor labels = torch::arange(8);
  double loss = 0;
  for (int i = 0; i < 40; ++i) {
    optimizer.zero_grad();
    const at::Tensor result = torch::cross_entropy_loss(model.forward(pictures), labels);
    result.backward();
    optimizer.step();
    loss = result.item<double>();
  }
  EXPECT_LT(loss, 0.1);
}

}  // namespace
}  // namespace lowtide::zoo
