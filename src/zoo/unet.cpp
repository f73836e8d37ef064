// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/unet.h"

#include <torch/nn/init.h>
#include <torch/nn/modules/conv.h>

#include "base/check.h"
#include "zoo/first_values.h"
#include "zoo/scoring.h"

namespace lowtide::zoo {
namespace {

// How often the size halves on the way down.
constexpr int kLevels = 4;
constexpr std::int64_t kSizeStep = 1 << kLevels;

class TwoConvolutions : public torch::nn::Module {
 public:
  TwoConvolutions(std::int64_t inputs, std::int64_t outputs) {
    conv1_ = register_module("conv1", convolution(inputs, outputs));
    conv2_ = register_module("conv2", convolution(outputs, outputs));
  }

  at::Tensor forward(const at::Tensor& x) {
    return conv2_->forward(conv1_->forward(x).relu_()).relu_();
  }

 private:
  static torch::nn::Conv2d convolution(std::int64_t inputs, std::int64_t outputs) {
    return torch::nn::Conv2d(torch::nn::Conv2dOptions(inputs, outputs, 3).padding(1));
  }

  torch::nn::Conv2d conv1_{nullptr}, conv2_{nullptr};
};

class UNet : public torch::nn::Module {
 public:
  UNet(const InputShape& input, std::int64_t width, double dropout) : dropout_(dropout) {
    std::int64_t channels = input.channels;
    for (int level = 0; level < kLevels; ++level) {
      down_.push_back(add_convolutions("down", level, channels, width << level));
      channels = width << level;
    }
    bottom_ =
        register_module("bottom", std::make_shared<TwoConvolutions>(channels, width << kLevels));
    for (int level = 0; level < kLevels; ++level) {
      const std::int64_t outputs = width << level;
      const auto doubling = torch::nn::ConvTranspose2dOptions(2 * outputs, outputs, 2).stride(2);
      doublings_.push_back(register_module("doubling" + std::to_string(level + 1),
                                           torch::nn::ConvTranspose2d(doubling)));
      up_.push_back(add_convolutions("up", level, 2 * outputs, outputs));
    }
    head_ = register_module("head",
                            torch::nn::Conv2d(torch::nn::Conv2dOptions(width, input.classes, 1)));
    set_first_values();
  }

  at::Tensor forward(const at::Tensor& pictures) {
    std::vector<at::Tensor> kept;
    at::Tensor x = pictures;
    for (const auto& level : down_) {
      kept.push_back(level->forward(x));
      x = at::max_pool2d(kept.back(), 2);
    }
    x = at::dropout(bottom_->forward(x), dropout_, is_training());
    for (std::size_t level = kLevels; level-- > 0;) {
      x = up_[level]->forward(at::cat({kept[level], doublings_[level]->forward(x)}, 1));
      kept[level].reset();
    }
    return head_->forward(x);
  }

 private:
  using Level = std::shared_ptr<TwoConvolutions>;

  Level add_convolutions(const std::string& way, int level, std::int64_t inputs,
                         std::int64_t outputs) {
    return register_module(way + std::to_string(level + 1),
                           std::make_shared<TwoConvolutions>(inputs, outputs));
  }
  // Section 3: normal, with a variance of 2 over the number of incoming nodes.
  void set_first_values() {
    set_convolutions_by_inputs(*this);
    for (const auto& doubling : doublings_) {
      // A node of a doubling hears from one pixel of each channel.
      const double inputs = static_cast<double>(doubling->weight.size(0));
      torch::nn::init::normal_(doubling->weight, 0, std::sqrt(2 / inputs));
      torch::nn::init::zeros_(doubling->bias);
    }
  }

  double dropout_;
  std::vector<Level> down_, up_;
  Level bottom_;
  std::vector<torch::nn::ConvTranspose2d> doublings_;
  torch::nn::Conv2d head_{nullptr};
};

}  // namespace

Model make_unet(const ModelOptions& options) {
  const InputShape input =
      input_of(options, {.channels = 1, .size = 512, .classes = 2, .is_dense = true}, kSizeStep);
  LT_REQUIRE(input.size % kSizeStep == 0, "the size of a U-Net's pictures must be a multiple of ",
             kSizeStep, ", not ", input.size);
  const auto net =
      std::make_shared<UNet>(input, options.width.value_or(64), options.dropout.value_or(0.5));
  return model_of(net, input);
}

}  // namespace lowtide::zoo
