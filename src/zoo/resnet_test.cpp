// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/resnet.h"

#include <stdexcept>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace lowtide::zoo {
namespace {

std::int64_t parameter_count(const torch::nn::Module& module) {
  std::int64_t count = 0;
  for (const at::Tensor& parameter : module.parameters()) count += parameter.numel();
  return count;
}

TEST(Resnet, HasAsManyParametersAsTorchvisions) {
  EXPECT_EQ(parameter_count(Resnet({.depth = 18})), 11'689'512);
  EXPECT_EQ(parameter_count(Resnet({.depth = 34})), 21'797'672);
  EXPECT_EQ(parameter_count(Resnet({.depth = 50})), 25'557'032);
  EXPECT_EQ(parameter_count(Resnet({.depth = 101})), 44'549'160);
  EXPECT_EQ(parameter_count(Resnet({.depth = 152})), 60'192'808);
}

TEST(Resnet, NamesAreTorchvisions) {
  const Resnet net({.depth = 50});
  const auto parameters = net.named_parameters();
  EXPECT_EQ(parameters.size(), 161U);
  for (const char* name : {"conv1.weight", "bn1.bias", "layer1.0.downsample.0.weight",
                           "layer3.5.conv3.weight", "layer4.2.bn3.weight", "fc.bias"}) {
    EXPECT_TRUE(parameters.contains(name)) << name;
  }
  EXPECT_TRUE(net.named_buffers().contains("layer2.0.downsample.1.running_mean"));
}

TEST(Resnet, RefusesDepthsThatNoneHas) {
  EXPECT_THROW(Resnet({.depth = 20}), std::invalid_argument);
}

TEST(Resnet, CheckpointedBlocksGiveTheSameGradients) {
  std::vector<at::Tensor> gradients;
  for (const bool is_on : {false, true}) {
    torch::manual_seed(5);
    Resnet net({.depth = 18, .classes = 4});
    net.checkpoint_blocks(is_on);
    net.forward(torch::randn({2, 3, 32, 32})).pow(2).sum().backward();
    gradients.push_back(net.named_parameters()["layer1.0.conv1.weight"].grad());
  }
  EXPECT_TRUE(torch::equal(gradients[0], gradients[1]));
}

}  // namespace
}  // namespace lowtide::zoo
