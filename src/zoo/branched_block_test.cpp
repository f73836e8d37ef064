// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/branched_block.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace lowtide::zoo {
namespace {

TEST(BranchedBlock, PutsBranchesAndForksSideBySide) {
  BranchedBlock block(3,
                      {{.chain = {{"one", 4}}},
                       {.chain = {{"two", 5}}, .fork = {{"left", 6, {1, 3}}, {"right", 7, {3, 1}}}},
                       {.pool = Pool::kAverage, .chain = {}}});
  EXPECT_EQ(block.outputs(), 4 + 6 + 7 + 3);
  EXPECT_EQ(block.forward(torch::zeros({2, 3, 8, 8})).sizes(),
            (std::vector<std::int64_t>{2, 20, 8, 8}));
}

TEST(BranchedBlock, HalvesWithoutPadding) {
  BranchedBlock block(3, {{.chain = {{"conv", 4, {3, 3}, 2, Padding::kNone}}},
                          {.pool = Pool::kMaxHalving, .chain = {}}});
  EXPECT_EQ(block.forward(torch::zeros({2, 3, 9, 9})).sizes(),
            (std::vector<std::int64_t>{2, 7, 4, 4}));
}

TEST(BranchedBlock, DotsInNamesMakeFolders) {
  const BranchedBlock block(3, {{.chain = {{"branch.0", 4}, {"branch.1", 5}}}});
  EXPECT_TRUE(block.named_parameters().contains("branch.0.conv.weight"));
  EXPECT_TRUE(block.named_parameters().contains("branch.1.bn.bias"));
}

TEST(BranchedBlock, AveragesCountThePaddingOrNot) {
  const at::Tensor ones = torch::ones({1, 1, 4, 4});
  const auto corner = [&](Pool pool) {
    BranchedBlock block(1, {{.pool = pool, .chain = {}}});
    return block.forward(ones)[0][0][0][0].item<double>();
  };
  EXPECT_NEAR(corner(Pool::kAverage), 4.0 / 9, 1e-6);
  EXPECT_NEAR(corner(Pool::kAverageInside), 1, 1e-6);
}

}  // namespace
}  // namespace lowtide::zoo
