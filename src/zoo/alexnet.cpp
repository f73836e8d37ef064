// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/alexnet.h"

#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/pooling.h>

#include "zoo/scoring.h"

namespace lowtide::zoo {
namespace {

// Below, nothing is left of a picture after the third pooling.
constexpr std::int64_t kSmallestSize = 63;
constexpr std::int64_t kPooledSize = 6;
constexpr std::int64_t kHidden = 4096;

class AlexNet : public torch::nn::Module {
 public:
  AlexNet(std::int64_t channels, std::int64_t classes, double dropout) {
    add_convolution(torch::nn::Conv2dOptions(channels, 64, 11).stride(4).padding(2));
    add_pooling();
    add_convolution(torch::nn::Conv2dOptions(64, 192, 5).padding(2));
    add_pooling();
    add_convolution(torch::nn::Conv2dOptions(192, 384, 3).padding(1));
    add_convolution(torch::nn::Conv2dOptions(384, 256, 3).padding(1));
    add_convolution(torch::nn::Conv2dOptions(256, 256, 3).padding(1));
    add_pooling();
    register_module("features", features_);
    classifier_ = register_module(
        "classifier",
        torch::nn::Sequential(torch::nn::Dropout(dropout),
                              torch::nn::Linear(256 * kPooledSize * kPooledSize, kHidden), relu(),
                              torch::nn::Dropout(dropout), torch::nn::Linear(kHidden, kHidden),
                              relu(), torch::nn::Linear(kHidden, classes)));
  }

  at::Tensor forward(const at::Tensor& pictures) {
    const at::Tensor x =
        at::adaptive_avg_pool2d(features_->forward(pictures), {kPooledSize, kPooledSize});
    return classifier_->forward(x.flatten(1));
  }

 private:
  static torch::nn::ReLU relu() { return torch::nn::ReLU(torch::nn::ReLUOptions(true)); }

  void add_convolution(const torch::nn::Conv2dOptions& options) {
    features_->push_back(torch::nn::Conv2d(options));
    features_->push_back(relu());
  }
  void add_pooling() {
    features_->push_back(torch::nn::MaxPool2d(torch::nn::MaxPool2dOptions(3).stride(2)));
  }

  torch::nn::Sequential features_, classifier_{nullptr};
};

}  // namespace

Model make_alexnet(const ModelOptions& options) {
  const InputShape input = input_of(options, {}, kSmallestSize);
  return model_of(
      std::make_shared<AlexNet>(input.channels, input.classes, options.dropout.value_or(0.5)),
      input);
}

}  // namespace lowtide::zoo
