// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include "zoo/model.h"

// The residual nets of He et al. 2015 for pictures of 224 by 224, with the names, shapes and first
// values of torchvision's: 25,557,032 parameters at a depth of 50.

namespace lowtide::zoo {

struct ResnetOptions {
  // 18, 34, 50, 101 or 152.
  int depth = 50;
  std::int64_t classes = 1000;
  std::int64_t channels = 3;
};

class ResnetBlock;

class Resnet : public torch::nn::Module {
 public:
  // Throws std::invalid_argument for other depths.
  explicit Resnet(const ResnetOptions& options);

  // pictures: batch, channels, height, width. Gives a score for each class.
  at::Tensor forward(const at::Tensor& pictures);
  // Whether each block is run again in backward instead of keeping its activations.
  void checkpoint_blocks(bool is_on) { checkpoints_blocks_ = is_on; }

 private:
  void add_stage(int number, int blocks, bool has_bottleneck);

  torch::nn::Conv2d conv1_{nullptr};
  torch::nn::BatchNorm2d bn1_{nullptr};
  std::vector<std::shared_ptr<ResnetBlock>> blocks_;
  torch::nn::Linear fc_{nullptr};
  std::int64_t channels_ = 64;
  bool checkpoints_blocks_ = false;
};

// Heeds channels, size and classes.
Model make_resnet(int depth, const ModelOptions& options);

}  // namespace lowtide::zoo
