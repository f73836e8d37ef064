// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/densenet.h"

#include <array>

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>

#include "base/check.h"
#include "zoo/first_values.h"
#include "zoo/scoring.h"

namespace lowtide::zoo {
namespace {

// Below, the last transition has nothing left to halve.
constexpr std::int64_t kSmallestSize = 29;
constexpr std::int64_t kFirstChannels = 64;
// What each layer adds, and how much wider its inner part is (k and 4k in section 3).
constexpr std::int64_t kGrowth = 32;
constexpr std::int64_t kInnerFactor = 4;

// Layers of two convolutions in each block (table 1).
std::array<int, 4> blocks_of(int depth) {
  switch (depth) {
    case 121:
      return {6, 12, 24, 16};
    case 169:
      return {6, 12, 32, 32};
    case 201:
      return {6, 12, 48, 32};
    default:
      throw InvalidInput(base::concat("no DenseNet has a depth of ", depth));
  }
}

torch::nn::Conv2d convolution(std::int64_t inputs, std::int64_t outputs, std::int64_t kernel) {
  return torch::nn::Conv2d(
      torch::nn::Conv2dOptions(inputs, outputs, kernel).padding(kernel / 2).bias(false));
}

class Layer : public torch::nn::Module {
 public:
  Layer(std::int64_t inputs, double dropout) : dropout_(dropout) {
    constexpr std::int64_t kInner = kInnerFactor * kGrowth;
    norm1_ = register_module("norm1", torch::nn::BatchNorm2d(inputs));
    conv1_ = register_module("conv1", convolution(inputs, kInner, 1));
    norm2_ = register_module("norm2", torch::nn::BatchNorm2d(kInner));
    conv2_ = register_module("conv2", convolution(kInner, kGrowth, 3));
  }

  at::Tensor forward(const std::vector<at::Tensor>& parts) {
    const at::Tensor x = conv1_->forward(norm1_->forward(at::cat(parts, 1)).relu_());
    const at::Tensor y = conv2_->forward(norm2_->forward(x).relu_());
    return dropout_ > 0 ? at::dropout(y, dropout_, is_training()) : y;
  }

 private:
  double dropout_;
  torch::nn::BatchNorm2d norm1_{nullptr}, norm2_{nullptr};
  torch::nn::Conv2d conv1_{nullptr}, conv2_{nullptr};
};

class Block : public torch::nn::Module {
 public:
  Block(std::int64_t inputs, int layers, double dropout) {
    for (int i = 0; i < layers; ++i) {
      layers_.push_back(register_module("denselayer" + std::to_string(i + 1),
                                        std::make_shared<Layer>(inputs + i * kGrowth, dropout)));
    }
  }

  at::Tensor forward(const at::Tensor& x) {
    std::vector<at::Tensor> parts = {x};
    for (const auto& layer : layers_) parts.push_back(layer->forward(parts));
    return at::cat(parts, 1);
  }

 private:
  std::vector<std::shared_ptr<Layer>> layers_;
};

// Halves channels and size.
class Transition : public torch::nn::Module {
 public:
  explicit Transition(std::int64_t inputs) {
    norm_ = register_module("norm", torch::nn::BatchNorm2d(inputs));
    conv_ = register_module("conv", convolution(inputs, inputs / 2, 1));
  }

  at::Tensor forward(const at::Tensor& x) {
    return at::avg_pool2d(conv_->forward(norm_->forward(x).relu_()), 2);
  }

 private:
  torch::nn::BatchNorm2d norm_{nullptr};
  torch::nn::Conv2d conv_{nullptr};
};

class Features : public torch::nn::Module {
 public:
  Features(int depth, std::int64_t channels, double dropout) {
    const auto first = torch::nn::Conv2dOptions(channels, kFirstChannels, 7);
    conv0_ = register_module(
        "conv0",
        torch::nn::Conv2d(torch::nn::Conv2dOptions(first).stride(2).padding(3).bias(false)));
    norm0_ = register_module("norm0", torch::nn::BatchNorm2d(kFirstChannels));
    for (const int layers : blocks_of(depth)) {
      const std::string number = std::to_string(blocks_.size() + 1);
      blocks_.push_back(register_module("denseblock" + number,
                                        std::make_shared<Block>(outputs_, layers, dropout)));
      outputs_ += layers * kGrowth;
      if (blocks_.size() == blocks_of(depth).size()) break;
      transitions_.push_back(
          register_module("transition" + number, std::make_shared<Transition>(outputs_)));
      outputs_ /= 2;
    }
    norm5_ = register_module("norm5", torch::nn::BatchNorm2d(outputs_));
  }

  at::Tensor forward(const at::Tensor& pictures) {
    at::Tensor x = norm0_->forward(conv0_->forward(pictures)).relu_();
    x = at::max_pool2d(x, 3, 2, 1);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      x = blocks_[i]->forward(x);
      if (i < transitions_.size()) x = transitions_[i]->forward(x);
    }
    return norm5_->forward(x);
  }

  std::int64_t outputs() const { return outputs_; }

 private:
  std::int64_t outputs_ = kFirstChannels;
  torch::nn::Conv2d conv0_{nullptr};
  torch::nn::BatchNorm2d norm0_{nullptr}, norm5_{nullptr};
  std::vector<std::shared_ptr<Block>> blocks_;
  std::vector<std::shared_ptr<Transition>> transitions_;
};

class DenseNet : public torch::nn::Module {
 public:
  DenseNet(int depth, const InputShape& input, double dropout) {
    features_ =
        register_module("features", std::make_shared<Features>(depth, input.channels, dropout));
    classifier_ =
        register_module("classifier", torch::nn::Linear(features_->outputs(), input.classes));
    set_convolutions_by_inputs(*this);
    const torch::NoGradGuard no_grad;
    classifier_->bias.zero_();
  }

  at::Tensor forward(const at::Tensor& pictures) {
    const at::Tensor x = features_->forward(pictures).relu_();
    return classifier_->forward(at::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
  }

 private:
  std::shared_ptr<Features> features_;
  torch::nn::Linear classifier_{nullptr};
};

}  // namespace

Model make_densenet(int depth, const ModelOptions& options) {
  const InputShape input = input_of(options, {}, kSmallestSize);
  return model_of(std::make_shared<DenseNet>(depth, input, options.dropout.value_or(0)), input);
}

}  // namespace lowtide::zoo
