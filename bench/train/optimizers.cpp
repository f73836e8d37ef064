// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "optimizers.h"

#include <utility>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

namespace lowtide::bench {
namespace {

std::vector<at::Tensor> gradients_of(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> gradients;
  gradients.reserve(parameters.size());
  for (const at::Tensor& parameter : parameters) gradients.push_back(parameter.grad());
  return gradients;
}

class Momentum final : public Optimizer {
 public:
  explicit Momentum(std::vector<at::Tensor> parameters) : parameters_(std::move(parameters)) {}

  void step() override {
    const at::NoGradGuard no_grad;
    const std::vector<at::Tensor> gradients = gradients_of(parameters_);
    if (velocities_.empty()) {
      for (const at::Tensor& gradient : gradients) velocities_.push_back(gradient.clone());
    } else {
      at::_foreach_mul_(velocities_, kMomentum);
      at::_foreach_add_(velocities_, gradients);
    }
    at::_foreach_add_(parameters_, velocities_, -kRate);
  }

 private:
  static constexpr double kRate = 0.01;
  static constexpr double kMomentum = 0.9;

  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> velocities_;
};

class FusedAdamW final : public Optimizer {
 public:
  explicit FusedAdamW(std::vector<at::Tensor> parameters) : parameters_(std::move(parameters)) {}

  void step() override {
    const at::NoGradGuard no_grad;
    if (steps_.empty()) make_states();
    at::_foreach_add_(steps_, 1);
    at::_fused_adamw_(parameters_, gradients_of(parameters_), means_, squares_, {}, steps_,
                      /*lr=*/1e-4, /*beta1=*/0.9, /*beta2=*/0.999, /*weight_decay=*/0.01,
                      /*eps=*/1e-8, /*amsgrad=*/false, /*maximize=*/false);
  }

 private:
  void make_states() {
    for (const at::Tensor& parameter : parameters_) {
      means_.push_back(at::zeros_like(parameter));
      squares_.push_back(at::zeros_like(parameter));
      steps_.push_back(at::zeros({}, parameter.options().dtype(at::kFloat)));
    }
  }

  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> means_, squares_, steps_;
};

}  // namespace

std::unique_ptr<Optimizer> make_momentum(std::vector<at::Tensor> parameters) {
  return std::make_unique<Momentum>(std::move(parameters));
}

std::unique_ptr<Optimizer> make_fused_adamw(std::vector<at::Tensor> parameters) {
  return std::make_unique<FusedAdamW>(std::move(parameters));
}

}  // namespace lowtide::bench
