// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "torch/optimizer.h"
#include "torch/program.h"

// What the programs are put together from.

namespace lowtide::torch_test {

// Random data from a generator of its own, made on the CPU and then moved: the same numbers on
// every device, whatever the default generators are asked for in between.
class Data {
 public:
  Data(at::Device device, std::uint64_t seed);

  at::Tensor normal(at::IntArrayRef sizes);
  at::Tensor uniform(at::IntArrayRef sizes);
  // Whole numbers in [low, high).
  at::Tensor integers(std::int64_t low, std::int64_t high, at::IntArrayRef sizes);
  // One whole number in [low, high).
  std::int64_t integer(std::int64_t low, std::int64_t high);
  // 0 .. count-1 in random order.
  at::Tensor permutation(std::int64_t count);

 private:
  at::Device device_;
  at::Generator generator_;
};

// The loss of step i. Called with gradients that are zero or not there.
using Loss = std::function<at::Tensor(int i)>;

// A training that zeroes the gradients, has `loss` computed, runs backward and lets the optimizer
// step.
std::unique_ptr<Training> train(std::shared_ptr<torch::nn::Module> model,
                                std::unique_ptr<Optimizer> optimizer, Loss loss);
// The same for a `loss` that runs backward itself.
std::unique_ptr<Training> train_by(std::shared_ptr<torch::nn::Module> model,
                                   std::unique_ptr<Optimizer> optimizer, Loss loss);

// Seeds torch's generators, makes the model with what follows, and moves it to the device.
template <class Model, class... Arguments>
std::shared_ptr<Model> make_model(at::Device device, std::uint64_t seed, Arguments&&... arguments) {
  torch::manual_seed(seed);
  auto model = std::make_shared<Model>(std::forward<Arguments>(arguments)...);
  model->to(device);
  return model;
}

// What most programs train with.
std::unique_ptr<Optimizer> make_sgd(const torch::nn::Module& model, double rate = 0.01);
std::unique_ptr<Optimizer> make_adam(const torch::nn::Module& model, double rate = 0.001);

}  // namespace lowtide::torch_test
