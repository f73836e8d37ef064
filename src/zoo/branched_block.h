// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>

// What GoogLeNet and the Inception nets are made of: convolutions with a norm and a ReLU, and
// blocks of branches whose outputs are put side by side. Channels of inputs follow from those of
// outputs, so a plan of a block is what the papers' figures show.

namespace lowtide::zoo {

enum class Padding { kSame, kNone };

struct ConvPlan {
  // Dots make a path, as in "branch2.0".
  std::string name;
  std::int64_t outputs = 0;
  std::array<std::int64_t, 2> kernel = {1, 1};
  std::int64_t stride = 1;
  Padding padding = Padding::kSame;
};

class ConvNorm : public torch::nn::Module {
 public:
  ConvNorm(std::int64_t inputs, const ConvPlan& plan);
  at::Tensor forward(const at::Tensor& x);

 private:
  torch::nn::Conv2d conv_{nullptr};
  torch::nn::BatchNorm2d bn_{nullptr};
};

enum class Pool {
  kNone,
  // 3 by 3; an average either counts the padding or not.
  kAverage,
  kAverageInside,
  kMax,
  // 3 by 3 with a stride of 2.
  kMaxHalving
};

struct BranchPlan {
  Pool pool = Pool::kNone;
  std::vector<ConvPlan> chain;
  // What the end of the chain is given to, each on its own.
  std::vector<ConvPlan> fork = {};
};

class BranchedBlock : public torch::nn::Module {
 public:
  BranchedBlock(std::int64_t inputs, const std::vector<BranchPlan>& plan);
  at::Tensor forward(const at::Tensor& x);
  std::int64_t outputs() const { return outputs_; }

 private:
  struct Branch {
    Pool pool;
    std::vector<std::shared_ptr<ConvNorm>> chain;
    std::vector<std::shared_ptr<ConvNorm>> fork;
  };

  void add(std::int64_t inputs, const BranchPlan& plan);
  std::shared_ptr<ConvNorm> add_layer(std::int64_t inputs, const ConvPlan& plan);

  std::vector<Branch> branches_;
  std::int64_t outputs_ = 0;
};

}  // namespace lowtide::zoo
