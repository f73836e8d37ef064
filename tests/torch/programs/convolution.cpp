// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Convolutional nets: residual with BatchNorm, in-place ReLU and dropout; with GroupNorm; with skip
// connections that span the net; with ever more feature maps joined.
#include <string>

#include <torch/torch.h>

#include "torch/program.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

constexpr std::int64_t kBatch = 16;
constexpr std::int64_t kClasses = 10;

torch::nn::Conv2d convolution(std::int64_t inputs, std::int64_t outputs) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(inputs, outputs, 3).padding(1).bias(false));
}

class ResidualBlock : public torch::nn::Module {
 public:
  explicit ResidualBlock(std::int64_t channels) {
    conv1_ = register_module("conv1", convolution(channels, channels));
    conv2_ = register_module("conv2", convolution(channels, channels));
    norm1_ = register_module("norm1", torch::nn::BatchNorm2d(channels));
    norm2_ = register_module("norm2", torch::nn::BatchNorm2d(channels));
  }

  at::Tensor forward(const at::Tensor& x) {
    at::Tensor y = norm1_->forward(conv1_->forward(x)).relu_();
    y = at::dropout(y, 0.1, is_training());
    return norm2_->forward(conv2_->forward(y)).add_(x).relu_();
  }

 private:
  torch::nn::Conv2d conv1_{nullptr}, conv2_{nullptr};
  torch::nn::BatchNorm2d norm1_{nullptr}, norm2_{nullptr};
};

class GroupNormBlock : public torch::nn::Module {
 public:
  explicit GroupNormBlock(std::int64_t channels) {
    conv_ = register_module("conv", convolution(channels, channels));
    norm_ = register_module("norm", torch::nn::GroupNorm(4, channels));
  }

  at::Tensor forward(const at::Tensor& x) {
    return x + at::silu(norm_->forward(conv_->forward(x)));
  }

 private:
  torch::nn::Conv2d conv_{nullptr};
  torch::nn::GroupNorm norm_{nullptr};
};

// A first convolution, `depth` blocks, then the mean over the picture and a linear layer.
template <class Block>
class BlockStack : public torch::nn::Module {
 public:
  BlockStack(std::int64_t channels, int depth) {
    first_ = register_module("first", convolution(3, channels));
    for (int i = 0; i < depth; ++i) {
      blocks_.push_back(
          register_module("block" + std::to_string(i), std::make_shared<Block>(channels)));
    }
    head_ = register_module("head", torch::nn::Linear(channels, kClasses));
  }

  at::Tensor forward(const at::Tensor& pictures) {
    at::Tensor x = first_->forward(pictures);
    for (const auto& block : blocks_) x = block->forward(x);
    return head_->forward(x.mean(at::IntArrayRef{2, 3}));
  }

 private:
  torch::nn::Conv2d first_{nullptr};
  std::vector<std::shared_ptr<Block>> blocks_;
  torch::nn::Linear head_{nullptr};
};

class Unet : public torch::nn::Module {
 public:
  Unet() {
    std::int64_t inputs = 3;
    for (int i = 0; i < kLevels; ++i) {
      down_.push_back(pair("down", i, inputs, kWidths[i]));
      inputs = kWidths[i];
    }
    for (int i = kLevels - 2; i >= 0; --i) {
      up_.push_back(pair("up", i, kWidths[i + 1] + kWidths[i], kWidths[i]));
    }
    head_ = register_module("head", convolution(kWidths[0], kClasses));
  }

  at::Tensor forward(at::Tensor x) {
    std::vector<at::Tensor> skips;
    for (int i = 0; i < kLevels; ++i) {
      if (i > 0) x = at::max_pool2d(x, 2);
      x = down_[static_cast<std::size_t>(i)]->forward(x);
      skips.push_back(x);
    }
    skips.pop_back();
    for (auto& level : up_) {
      const at::Tensor& skip = skips.back();
      x = at::upsample_nearest2d(x, at::IntArrayRef{skip.size(2), skip.size(3)});
      x = level->forward(at::cat({x, skip}, 1));
      skips.pop_back();
    }
    return head_->forward(x);
  }

 private:
  static constexpr int kLevels = 4;
  static constexpr std::int64_t kWidths[kLevels] = {8, 12, 16, 24};

  torch::nn::Sequential pair(const std::string& name, int level, std::int64_t inputs,
                             std::int64_t outputs) {
    using torch::nn::ReLU;
    const torch::nn::ReLUOptions in_place(true);
    return register_module(
        name + std::to_string(level),
        torch::nn::Sequential(convolution(inputs, outputs), torch::nn::BatchNorm2d(outputs),
                              ReLU(in_place), convolution(outputs, outputs), ReLU(in_place)));
  }

  std::vector<torch::nn::Sequential> down_, up_;
  torch::nn::Conv2d head_{nullptr};
};

class DenseNet : public torch::nn::Module {
 public:
  DenseNet() {
    std::int64_t channels = kGrowth;
    layers_.push_back(register_module("first", torch::nn::Sequential(convolution(3, channels))));
    for (int i = 0; i < 10; ++i) {
      layers_.push_back(
          register_module("layer" + std::to_string(i),
                          torch::nn::Sequential(torch::nn::BatchNorm2d(channels),
                                                torch::nn::ReLU(torch::nn::ReLUOptions(true)),
                                                convolution(channels, kGrowth))));
      channels += kGrowth;
    }
    head_ = register_module("head", torch::nn::Linear(channels, kClasses));
  }

  at::Tensor forward(const at::Tensor& pictures) {
    std::vector<at::Tensor> maps;
    for (auto& layer : layers_) {
      const at::Tensor x = maps.empty() ? pictures : at::cat(maps, 1);
      maps.push_back(layer->forward(x));
    }
    return head_->forward(at::cat(maps, 1).mean(at::IntArrayRef{2, 3}));
  }

 private:
  static constexpr std::int64_t kGrowth = 4;
  std::vector<torch::nn::Sequential> layers_;
  torch::nn::Linear head_{nullptr};
};

// A class for each picture.
template <class Model, class... Arguments>
std::unique_ptr<Training> classify(at::Device device, std::uint64_t seed, std::int64_t side,
                                   Arguments... arguments) {
  auto model = make_model<Model>(device, seed, arguments...);
  const at::Tensor pictures = Data(device, seed).normal({4, kBatch, 3, side, side});
  const at::Tensor labels = Data(device, seed + 1).integers(0, kClasses, {4, kBatch});
  return train(model, make_sgd(*model), [=](int i) {
    return torch::cross_entropy_loss(model->forward(pictures.select(0, i % 4)),
                                     labels.select(0, i % 4));
  });
}

std::unique_ptr<Training> residual(at::Device device, std::uint64_t seed) {
  return classify<BlockStack<ResidualBlock>>(device, seed, 12, 12, 6);
}

std::unique_ptr<Training> group_norm(at::Device device, std::uint64_t seed) {
  return classify<BlockStack<GroupNormBlock>>(device, seed, 12, 12, 12);
}

std::unique_ptr<Training> dense(at::Device device, std::uint64_t seed) {
  return classify<DenseNet>(device, seed, 14);
}

// A picture for each picture.
std::unique_ptr<Training> unet(at::Device device, std::uint64_t seed) {
  auto model = make_model<Unet>(device, seed);
  const at::Tensor pictures = Data(device, seed).normal({4, kBatch, 3, 24, 24});
  const at::Tensor wanted = Data(device, seed + 1).uniform({4, kBatch, kClasses, 24, 24});
  return train(model, make_adam(*model), [=](int i) {
    return at::mse_loss(model->forward(pictures.select(0, i % 4)).sigmoid(),
                        wanted.select(0, i % 4));
  });
}

}  // namespace

std::vector<Program> convolution_programs() {
  return {{"convolution_residual", residual},
          {"convolution_group_norm", group_norm},
          {"convolution_unet", unet},
          {"convolution_dense_cat", dense}};
}

}  // namespace lowtide::torch_test
