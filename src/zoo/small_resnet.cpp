// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/small_resnet.h"

#include <torch/torch.h>

#include "zoo/scoring.h"

namespace lowtide::zoo {
namespace {

torch::nn::Conv2d convolution(std::int64_t inputs, std::int64_t outputs, std::int64_t kernel,
                              std::int64_t stride) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(inputs, outputs, kernel)
                               .stride(stride)
                               .padding(kernel / 2)
                               .bias(false));
}

class Block : public torch::nn::Module {
 public:
  Block(std::int64_t inputs, std::int64_t outputs, std::int64_t stride) {
    conv1_ = register_module("conv1", convolution(inputs, outputs, 3, stride));
    norm1_ = register_module("norm1", torch::nn::BatchNorm2d(outputs));
    conv2_ = register_module("conv2", convolution(outputs, outputs, 3, 1));
    norm2_ = register_module("norm2", torch::nn::BatchNorm2d(outputs));
    if (inputs == outputs && stride == 1) return;
    shortcut_ =
        register_module("shortcut", torch::nn::Sequential(convolution(inputs, outputs, 1, stride),
                                                          torch::nn::BatchNorm2d(outputs)));
  }

  at::Tensor forward(const at::Tensor& x) {
    at::Tensor y = norm1_->forward(conv1_->forward(x)).relu_();
    y = norm2_->forward(conv2_->forward(y));
    return y.add_(shortcut_.is_empty() ? x : shortcut_->forward(x)).relu_();
  }

 private:
  torch::nn::Conv2d conv1_{nullptr}, conv2_{nullptr};
  torch::nn::BatchNorm2d norm1_{nullptr}, norm2_{nullptr};
  torch::nn::Sequential shortcut_{nullptr};
};

}  // namespace

SmallResnet::SmallResnet(const SmallResnetOptions& options) {
  first_ = register_module("first", convolution(options.channels, options.width, 3, 1));
  norm_ = register_module("norm", torch::nn::BatchNorm2d(options.width));
  blocks_ = torch::nn::Sequential();
  std::int64_t channels = options.width;
  std::int64_t outputs = options.width;
  for (const int count : options.blocks) {
    for (int i = 0; i < count; ++i) {
      const std::int64_t stride = outputs > options.width && i == 0 ? 2 : 1;
      blocks_->push_back(Block(channels, outputs, stride));
      channels = outputs;
    }
    outputs *= 2;
  }
  register_module("blocks", blocks_);
  head_ = register_module("head", torch::nn::Linear(channels, options.classes));
}

at::Tensor SmallResnet::forward(const at::Tensor& pictures) {
  const at::Tensor x = norm_->forward(first_->forward(pictures)).relu_();
  return head_->forward(blocks_->forward(x).mean(at::IntArrayRef{2, 3}));
}

Model make_small_resnet(const ModelOptions& options) {
  const SmallResnetOptions defaults;
  const InputShape input =
      input_of(options, {.channels = defaults.channels, .size = 28, .classes = defaults.classes});
  const SmallResnetOptions shape = {.classes = input.classes,
                                    .channels = input.channels,
                                    .width = options.width.value_or(defaults.width)};
  return model_of(std::make_shared<SmallResnet>(shape), input);
}

}  // namespace lowtide::zoo
