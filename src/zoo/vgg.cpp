// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/vgg.h"

#include <array>

#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/pooling.h>

#include "base/check.h"
#include "zoo/first_values.h"
#include "zoo/scoring.h"

namespace lowtide::zoo {
namespace {

// Five poolings halve it.
constexpr std::int64_t kSmallestSize = 32;
constexpr std::int64_t kPooledSize = 7;
constexpr std::int64_t kHidden = 4096;
constexpr std::array<std::int64_t, 5> kStageChannels = {64, 128, 256, 512, 512};

// Convolutions in each stage; with three linear layers they make the depth (table 1: A, B, D, E).
std::array<int, 5> stages_of(int depth) {
  switch (depth) {
    case 11:
      return {1, 1, 2, 2, 2};
    case 13:
      return {2, 2, 2, 2, 2};
    case 16:
      return {2, 2, 3, 3, 3};
    case 19:
      return {2, 2, 4, 4, 4};
    default:
      throw InvalidInput(base::concat("no VGG has a depth of ", depth));
  }
}

torch::nn::ReLU relu() { return torch::nn::ReLU(torch::nn::ReLUOptions(true)); }

class Vgg : public torch::nn::Module {
 public:
  Vgg(int depth, VggNorm norm, const InputShape& input, double dropout) {
    const std::array<int, 5> stages = stages_of(depth);
    std::int64_t channels = input.channels;
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      for (int i = 0; i < stages[stage]; ++i) {
        add_convolution(channels, kStageChannels[stage], norm);
        channels = kStageChannels[stage];
      }
      features_->push_back(torch::nn::MaxPool2d(2));
    }
    register_module("features", features_);
    classifier_ = register_module(
        "classifier", torch::nn::Sequential(
                          torch::nn::Linear(channels * kPooledSize * kPooledSize, kHidden), relu(),
                          torch::nn::Dropout(dropout), torch::nn::Linear(kHidden, kHidden), relu(),
                          torch::nn::Dropout(dropout), torch::nn::Linear(kHidden, input.classes)));
    set_convolutions_by_outputs(*this);
    set_linears(*this, 0.01);
  }

  at::Tensor forward(const at::Tensor& pictures) {
    const at::Tensor x =
        at::adaptive_avg_pool2d(features_->forward(pictures), {kPooledSize, kPooledSize});
    return classifier_->forward(x.flatten(1));
  }

 private:
  void add_convolution(std::int64_t inputs, std::int64_t outputs, VggNorm norm) {
    features_->push_back(
        torch::nn::Conv2d(torch::nn::Conv2dOptions(inputs, outputs, 3).padding(1)));
    if (norm == VggNorm::kBatch) features_->push_back(torch::nn::BatchNorm2d(outputs));
    features_->push_back(relu());
  }

  torch::nn::Sequential features_, classifier_{nullptr};
};

}  // namespace

Model make_vgg(int depth, VggNorm norm, const ModelOptions& options) {
  const InputShape input = input_of(options, {}, kSmallestSize);
  return model_of(std::make_shared<Vgg>(depth, norm, input, options.dropout.value_or(0.5)), input);
}

}  // namespace lowtide::zoo
