// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/mobilenet_v2.h"

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>

#include "zoo/first_values.h"
#include "zoo/scoring.h"

namespace lowtide::zoo {
namespace {

constexpr std::int64_t kFirstChannels = 32, kLastChannels = 1280;

// A row of table 2.
struct Stage {
  std::int64_t expansion, outputs;
  int blocks;
  std::int64_t stride;
};

constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                             {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

// With a norm and a ReLU6. Torch's Sequential does not take another one, which this is by its
// names.
class Convolution : public torch::nn::Module {
 public:
  explicit Convolution(const torch::nn::Conv2dOptions& options) {
    conv_ = register_module("0", torch::nn::Conv2d(options));
    norm_ = register_module("1", torch::nn::BatchNorm2d(options.out_channels()));
  }

  at::Tensor forward(const at::Tensor& x) {
    at::Tensor y = norm_->forward(conv_->forward(x));
    return at::hardtanh_(y, 0, 6);
  }

 private:
  torch::nn::Conv2d conv_{nullptr};
  torch::nn::BatchNorm2d norm_{nullptr};
};

torch::nn::Conv2dOptions pointwise(std::int64_t inputs, std::int64_t outputs) {
  return torch::nn::Conv2dOptions(inputs, outputs, 1).bias(false);
}

torch::nn::Conv2dOptions three_by_three(std::int64_t inputs, std::int64_t outputs,
                                        std::int64_t stride) {
  return torch::nn::Conv2dOptions(inputs, outputs, 3).stride(stride).padding(1).bias(false);
}

class Block : public torch::nn::Module {
 public:
  Block(std::int64_t inputs, const Stage& stage, std::int64_t stride)
      : has_shortcut_(stride == 1 && inputs == stage.outputs) {
    const std::int64_t inner = inputs * stage.expansion;
    if (stage.expansion > 1) conv_->push_back(Convolution(pointwise(inputs, inner)));
    conv_->push_back(Convolution(three_by_three(inner, inner, stride).groups(inner)));
    conv_->push_back(torch::nn::Conv2d(pointwise(inner, stage.outputs)));
    conv_->push_back(torch::nn::BatchNorm2d(stage.outputs));
    register_module("conv", conv_);
  }

  at::Tensor forward(const at::Tensor& x) {
    return has_shortcut_ ? x + conv_->forward(x) : conv_->forward(x);
  }

 private:
  bool has_shortcut_;
  torch::nn::Sequential conv_;
};

class MobileNetV2 : public torch::nn::Module {
 public:
  MobileNetV2(const InputShape& input, double dropout) {
    features_->push_back(Convolution(three_by_three(input.channels, kFirstChannels, 2)));
    std::int64_t channels = kFirstChannels;
    for (const Stage& stage : kStages) {
      for (int i = 0; i < stage.blocks; ++i) {
        features_->push_back(std::make_shared<Block>(channels, stage, i == 0 ? stage.stride : 1));
        channels = stage.outputs;
      }
    }
    features_->push_back(Convolution(pointwise(channels, kLastChannels)));
    register_module("features", features_);
    classifier_ = register_module(
        "classifier", torch::nn::Sequential(torch::nn::Dropout(dropout),
                                            torch::nn::Linear(kLastChannels, input.classes)));
    set_convolutions_by_outputs(*this);
    set_linears(*this, 0.01);
  }

  at::Tensor forward(const at::Tensor& pictures) {
    const at::Tensor x = features_->forward(pictures);
    return classifier_->forward(at::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
  }

 private:
  torch::nn::Sequential features_, classifier_{nullptr};
};

}  // namespace

Model make_mobilenet_v2(const ModelOptions& options) {
  const InputShape input = input_of(options, {});
  return model_of(std::make_shared<MobileNetV2>(input, options.dropout.value_or(0.2)), input);
}

}  // namespace lowtide::zoo
