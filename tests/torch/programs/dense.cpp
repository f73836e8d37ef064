// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Linear layers: with LayerNorm, with one layer used over and over, and with far more optimizer
// state than activations.
#include <string>

#include <torch/torch.h>

#include "torch/layers.h"
#include "torch/program.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

constexpr std::int64_t kWidth = 128;
constexpr std::int64_t kBatch = 256;

class LayerNormStack : public torch::nn::Module {
 public:
  explicit LayerNormStack(int depth) {
    for (int i = 0; i < depth; ++i) {
      const std::string number = std::to_string(i);
      norms_.push_back(register_module(
          "norm" + number, torch::nn::LayerNorm(torch::nn::LayerNormOptions({kWidth}))));
      layers_.push_back(register_module("linear" + number, torch::nn::Linear(kWidth, kWidth)));
    }
  }

  at::Tensor forward(at::Tensor x) {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      x = x + at::gelu(layers_[i]->forward(norms_[i]->forward(x)));
    }
    return x;
  }

 private:
  std::vector<torch::nn::LayerNorm> norms_;
  std::vector<torch::nn::Linear> layers_;
};

// Two layers, each used eight times in one step: gradients of one weight are summed, and one
// storage is read all through the step.
class SharedStack : public torch::nn::Module {
 public:
  SharedStack() {
    even_ = register_module("even", torch::nn::Linear(kWidth, kWidth));
    odd_ = register_module("odd", torch::nn::Linear(kWidth, kWidth));
    scale_ = register_parameter("scale", torch::full({kWidth}, 0.9));
  }

  at::Tensor forward(at::Tensor x) {
    for (int i = 0; i < 16; ++i) {
      x = (i % 2 == 0 ? even_ : odd_)->forward(x).tanh() * scale_ + 0.5 * x;
    }
    return at::linear(x, even_->weight.t(), odd_->bias);
  }

 private:
  torch::nn::Linear even_{nullptr}, odd_{nullptr};
  at::Tensor scale_;
};

template <class Model, class... Arguments>
std::unique_ptr<Training> fit(at::Device device, std::uint64_t seed, Arguments... arguments) {
  auto model = make_model<Model>(device, seed, arguments...);
  const at::Tensor inputs = Data(device, seed).normal({4, kBatch, kWidth});
  const at::Tensor wanted = Data(device, seed + 1).normal({kBatch, kWidth});
  return train(model, make_adam(*model), [=](int i) {
    return at::mse_loss(model->forward(inputs.select(0, i % 4)), wanted);
  });
}

std::unique_ptr<Training> layer_norm(at::Device device, std::uint64_t seed) {
  return fit<LayerNormStack>(device, seed, 12);
}

std::unique_ptr<Training> shared_weights(at::Device device, std::uint64_t seed) {
  return fit<SharedStack>(device, seed);
}

std::unique_ptr<Training> mostly_state(at::Device device, std::uint64_t seed) {
  auto model = make_model<LinearStack>(device, seed, LinearStackShape{256, 256, 16, 8});
  const at::Tensor inputs = Data(device, seed).normal({4, 16, 256});
  const at::Tensor wanted = Data(device, seed + 1).normal({16, 16});
  return train(model, make_adam(*model), [=](int i) {
    return at::mse_loss(model->forward(inputs.select(0, i % 4)), wanted);
  });
}

// The same with lists: all states are arguments of one op.
std::unique_ptr<Training> mostly_state_fused(at::Device device, std::uint64_t seed) {
  auto model = make_model<LinearStack>(device, seed, LinearStackShape{256, 256, 16, 8});
  const at::Tensor inputs = Data(device, seed).normal({4, 16, 256});
  const at::Tensor wanted = Data(device, seed + 1).normal({16, 16});
  return train(model, make_fused_adam(model->parameters()), [=](int i) {
    return at::mse_loss(model->forward(inputs.select(0, i % 4)), wanted);
  });
}

}  // namespace

std::vector<Program> dense_programs() {
  return {{"dense_layer_norm", layer_norm},
          {"dense_shared_weights", shared_weights},
          {"dense_mostly_state", mostly_state},
          {"dense_mostly_state_fused", mostly_state_fused}};
}

}  // namespace lowtide::torch_test
