// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/checkpoint.h"

#include <vector>

#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace lowtide::zoo {
namespace {

struct Gradients {
  at::Tensor output;
  at::Tensor input;
  at::Tensor weight;
  // The next random number, to see that no run took more of them than one does.
  at::Tensor next_random;
};

Gradients run(bool with_checkpoint) {
  torch::manual_seed(3);
  torch::nn::Linear layer(8, 8);
  const at::Tensor input = torch::randn({4, 8}).requires_grad_();
  int runs = 0;
  const Region region = [&](const at::Tensor& x) {
    ++runs;
    return torch::dropout(layer->forward(x).relu(), 0.5, true);
  };
  const at::Tensor output = with_checkpoint ? checkpoint(region, input) : region(input);
  const at::Tensor next_random = torch::rand({1});
  output.pow(2).sum().backward();
  EXPECT_EQ(runs, with_checkpoint ? 2 : 1);
  return {output.detach(), input.grad(), layer->weight.grad(), next_random};
}

TEST(Checkpoint, GradientsAreThoseOfTheRegionItself) {
  const Gradients plain = run(false);
  const Gradients checkpointed = run(true);
  EXPECT_TRUE(torch::equal(plain.output, checkpointed.output));
  EXPECT_TRUE(torch::equal(plain.input, checkpointed.input));
  EXPECT_TRUE(torch::equal(plain.weight, checkpointed.weight));
  EXPECT_TRUE(torch::equal(plain.next_random, checkpointed.next_random));
}

TEST(Checkpoint, SecondRunCastsAsTheFirst) {
  const at::Tensor weight = torch::randn({8, 8}).requires_grad_();
  const at::Tensor input = torch::randn({4, 8}).requires_grad_();
  std::vector<at::ScalarType> types;
  at::autocast::set_autocast_enabled(at::kCPU, true);
  const at::Tensor output = checkpoint(
      [&](const at::Tensor& x) {
        at::Tensor y = x.matmul(weight);
        types.push_back(y.scalar_type());
        return y;
      },
      input);
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCPU, false);
  output.sum().backward();
  EXPECT_EQ(types, (std::vector<at::ScalarType>{at::kBFloat16, at::kBFloat16}));
  EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
}

}  // namespace
}  // namespace lowtide::zoo
