// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/cifar_resnet.h"

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include "base/check.h"
#include "zoo/first_values.h"
#include "zoo/scoring.h"

namespace lowtide::zoo {
namespace {

constexpr int kStages = 3;

torch::nn::Conv2d convolution(std::int64_t inputs, std::int64_t outputs, std::int64_t stride) {
  return torch::nn::Conv2d(
      torch::nn::Conv2dOptions(inputs, outputs, 3).stride(stride).padding(1).bias(false));
}

class Block : public torch::nn::Module {
 public:
  Block(std::int64_t inputs, std::int64_t outputs) : more_channels_(outputs - inputs) {
    conv1_ = register_module("conv1", convolution(inputs, outputs, more_channels_ > 0 ? 2 : 1));
    bn1_ = register_module("bn1", torch::nn::BatchNorm2d(outputs));
    conv2_ = register_module("conv2", convolution(outputs, outputs, 1));
    bn2_ = register_module("bn2", torch::nn::BatchNorm2d(outputs));
  }

  at::Tensor forward(const at::Tensor& x) {
    at::Tensor y = bn1_->forward(conv1_->forward(x)).relu_();
    y = bn2_->forward(conv2_->forward(y));
    return y.add_(shortcut(x)).relu_();
  }

 private:
  at::Tensor shortcut(const at::Tensor& x) const {
    if (more_channels_ == 0) return x;
    const at::Tensor skipping = x.slice(2, 0, c10::nullopt, 2).slice(3, 0, c10::nullopt, 2);
    const std::int64_t before = more_channels_ / 2;
    return at::constant_pad_nd(skipping, {0, 0, 0, 0, before, more_channels_ - before});
  }

  std::int64_t more_channels_;
  torch::nn::Conv2d conv1_{nullptr}, conv2_{nullptr};
  torch::nn::BatchNorm2d bn1_{nullptr}, bn2_{nullptr};
};

class CifarResnet : public torch::nn::Module {
 public:
  CifarResnet(std::int64_t blocks, std::int64_t width, const InputShape& input) {
    conv1_ = register_module("conv1", convolution(input.channels, width, 1));
    bn1_ = register_module("bn1", torch::nn::BatchNorm2d(width));
    std::int64_t channels = width;
    for (int number = 0; number < kStages; ++number) {
      torch::nn::Sequential stage;
      for (std::int64_t i = 0; i < blocks; ++i) {
        stage->push_back(std::make_shared<Block>(channels, width << number));
        channels = width << number;
      }
      stages_.push_back(register_module("layer" + std::to_string(number + 1), stage));
    }
    fc_ = register_module("fc", torch::nn::Linear(channels, input.classes));
    set_convolutions_by_outputs(*this);
  }

  at::Tensor forward(const at::Tensor& pictures) {
    at::Tensor x = bn1_->forward(conv1_->forward(pictures)).relu_();
    for (torch::nn::Sequential& stage : stages_) x = stage->forward(x);
    return fc_->forward(at::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
  }

 private:
  torch::nn::Conv2d conv1_{nullptr};
  torch::nn::BatchNorm2d bn1_{nullptr};
  std::vector<torch::nn::Sequential> stages_;
  torch::nn::Linear fc_{nullptr};
};

}  // namespace

Model make_cifar_resnet(std::int64_t layers, const ModelOptions& options) {
  layers = options.layers.value_or(layers);
  LT_REQUIRE(layers >= 8 && layers % 6 == 2,
             "a CIFAR ResNet has 6n+2 layers, such as 20, 32, 44, 56, 110 or 1202, not ", layers);
  const InputShape input = input_of(options, {.size = 32, .classes = 10});
  return model_of(
      std::make_shared<CifarResnet>((layers - 2) / 6, options.width.value_or(16), input), input);
}

}  // namespace lowtide::zoo
