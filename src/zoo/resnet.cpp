// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/resnet.h"

#include <array>
#include <stdexcept>
#include <string>

#include <torch/torch.h>

#include "zoo/checkpoint.h"
#include "zoo/first_values.h"
#include "zoo/scoring.h"

namespace lowtide::zoo {
namespace {

struct Plan {
  int depth;
  std::array<int, 4> blocks;
  bool has_bottleneck;
};

constexpr std::array<Plan, 5> kPlans = {{{18, {2, 2, 2, 2}, false},
                                         {34, {3, 4, 6, 3}, false},
                                         {50, {3, 4, 6, 3}, true},
                                         {101, {3, 4, 23, 3}, true},
                                         {152, {3, 8, 36, 3}, true}}};

// A bottleneck's last layer has so many times the channels of its others.
constexpr std::int64_t kExpansion = 4;

const Plan& plan_for(int depth) {
  for (const Plan& plan : kPlans) {
    if (plan.depth == depth) return plan;
  }
  throw std::invalid_argument("no ResNet has a depth of " + std::to_string(depth) +
                              ": use 18, 34, 50, 101 or 152");
}

torch::nn::Conv2d convolution(std::int64_t inputs, std::int64_t outputs, std::int64_t kernel,
                              std::int64_t stride) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(inputs, outputs, kernel)
                               .stride(stride)
                               .padding(kernel / 2)
                               .bias(false));
}

}  // namespace

class ResnetBlock : public torch::nn::Module {
 public:
  struct Shape {
    std::int64_t inputs;
    // Of the inner layers.
    std::int64_t width;
    std::int64_t stride;
    bool has_bottleneck;

    std::int64_t outputs() const { return has_bottleneck ? width * kExpansion : width; }
  };

  explicit ResnetBlock(const Shape& shape) {
    if (shape.has_bottleneck) {
      add_layer(shape.inputs, shape.width, 1, 1);
      add_layer(shape.width, shape.width, 3, shape.stride);
      add_layer(shape.width, shape.outputs(), 1, 1);
    } else {
      add_layer(shape.inputs, shape.width, 3, shape.stride);
      add_layer(shape.width, shape.width, 3, 1);
    }
    if (shape.inputs == shape.outputs() && shape.stride == 1) return;
    downsample_ = register_module(
        "downsample",
        torch::nn::Sequential(convolution(shape.inputs, shape.outputs(), 1, shape.stride),
                              torch::nn::BatchNorm2d(shape.outputs())));
  }

  at::Tensor forward(const at::Tensor& input) {
    at::Tensor x = input;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      x = layers_[i].norm->forward(layers_[i].convolution->forward(x));
      if (i + 1 < layers_.size()) x.relu_();
    }
    return x.add_(downsample_.is_empty() ? input : downsample_->forward(input)).relu_();
  }

 private:
  struct Layer {
    torch::nn::Conv2d convolution;
    torch::nn::BatchNorm2d norm;
  };

  void add_layer(std::int64_t inputs, std::int64_t outputs, std::int64_t kernel,
                 std::int64_t stride) {
    const std::string number = std::to_string(layers_.size() + 1);
    Layer layer = {convolution(inputs, outputs, kernel, stride), torch::nn::BatchNorm2d(outputs)};
    register_module("conv" + number, layer.convolution);
    register_module("bn" + number, layer.norm);
    layers_.push_back(std::move(layer));
  }

  std::vector<Layer> layers_;
  torch::nn::Sequential downsample_{nullptr};
};

Resnet::Resnet(const ResnetOptions& options) {
  const Plan& plan = plan_for(options.depth);
  conv1_ = register_module(
      "conv1", torch::nn::Conv2d(torch::nn::Conv2dOptions(options.channels, channels_, 7)
                                     .stride(2)
                                     .padding(3)
                                     .bias(false)));
  bn1_ = register_module("bn1", torch::nn::BatchNorm2d(channels_));
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
    add_stage(static_cast<int>(i), plan.blocks[i], plan.has_bottleneck);
  }
  fc_ = register_module("fc", torch::nn::Linear(channels_, options.classes));
  set_convolutions_by_outputs(*this);
}

void Resnet::add_stage(int number, int blocks, bool has_bottleneck) {
  torch::nn::Sequential stage;
  for (int i = 0; i < blocks; ++i) {
    const ResnetBlock::Shape shape = {.inputs = channels_,
                                      .width = std::int64_t{64} << number,
                                      .stride = number > 0 && i == 0 ? 2 : 1,
                                      .has_bottleneck = has_bottleneck};
    blocks_.push_back(std::make_shared<ResnetBlock>(shape));
    stage->push_back(blocks_.back());
    channels_ = shape.outputs();
  }
  register_module("layer" + std::to_string(number + 1), stage);
}

at::Tensor Resnet::forward(const at::Tensor& pictures) {
  at::Tensor x = bn1_->forward(conv1_->forward(pictures)).relu_();
  x = at::max_pool2d(x, 3, 2, 1);
  for (const auto& block : blocks_) {
    x = checkpoints_blocks_
            ? checkpoint([block](const at::Tensor& input) { return block->forward(input); }, x)
            : block->forward(x);
  }
  return fc_->forward(at::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
}

Model make_resnet(int depth, const ModelOptions& options) {
  const InputShape input = input_of(options, {});
  const ResnetOptions shape = {
      .depth = depth, .classes = input.classes, .channels = input.channels};
  return model_of(std::make_shared<Resnet>(shape), input);
}

}  // namespace lowtide::zoo
