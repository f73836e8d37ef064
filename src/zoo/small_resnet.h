// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include "zoo/model.h"

// A residual net for grey pictures of 28 by 28, after the ResNet-20 of He et al. 2015, section 4.2,
// but with fewer blocks where pictures are large and more where they are small: as many parameters,
// 0.3 million, in less time. What fills memory are its activations: 240 MiB at a batch of 256.

namespace lowtide::zoo {

struct SmallResnetOptions {
  std::int64_t classes = 10;
  std::int64_t channels = 1;
  // Channels of the first stage; they double from stage to stage.
  std::int64_t width = 16;
  std::array<int, 3> blocks = {2, 2, 4};
};

class SmallResnet : public torch::nn::Module {
 public:
  explicit SmallResnet(const SmallResnetOptions& options);

  // pictures: batch, channels, height, width. Gives a score for each class.
  at::Tensor forward(const at::Tensor& pictures);

 private:
  torch::nn::Conv2d first_{nullptr};
  torch::nn::BatchNorm2d norm_{nullptr};
  torch::nn::Sequential blocks_{nullptr};
  torch::nn::Linear head_{nullptr};
};

// Heeds channels, size, classes and width.
Model make_small_resnet(const ModelOptions& options);

}  // namespace lowtide::zoo
