// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/shapes_only.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace lowtide::zoo {
namespace {

TEST(ShapesOnly, ModulesHaveShapesButNoMemory) {
  const ShapesOnly shapes_only;
  // A thousand tebibytes.
  const torch::nn::Linear layer(1'000'000, 250'000'000);
  EXPECT_TRUE(layer->weight.is_meta());
  EXPECT_EQ(layer->weight.numel(), 250'000'000'000'000);
  EXPECT_TRUE(torch::nn::BatchNorm2d(3)->num_batches_tracked.is_meta());
}

TEST(ShapesOnly, EndsWithItsScope) {
  { const ShapesOnly shapes_only; }
  EXPECT_TRUE(torch::nn::Linear(2, 2)->weight.is_cpu());
}

}  // namespace
}  // namespace lowtide::zoo
