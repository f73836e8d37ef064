// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/optimizer.h"

#include <utility>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "base/check.h"

namespace lowtide::train {
namespace {

using Tensors = std::vector<at::Tensor>;

Tensors zeros_like(const State& parameters) {
  Tensors result;
  for (const NamedTensor& parameter : parameters) {
    result.push_back(at::zeros_like(parameter.tensor.detach()));
  }
  return result;
}

void append(State& state, const std::string& kind, const State& parameters,
            const Tensors& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    state.push_back({kind + "/" + parameters[i].name, tensors[i]});
  }
}

// Those of the parameters that have a gradient now; an unused head has none.
std::vector<std::size_t> with_gradients(const State& parameters) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].tensor.grad().defined()) result.push_back(i);
  }
  return result;
}

Tensors pick(const Tensors& tensors, const std::vector<std::size_t>& which) {
  Tensors result;
  for (const std::size_t i : which) result.push_back(tensors[i]);
  return result;
}

struct Stepped {
  Tensors parameters;
  Tensors gradients;
};

Stepped pick(const State& parameters, const std::vector<std::size_t>& which) {
  Stepped result;
  for (const std::size_t i : which) {
    result.parameters.push_back(parameters[i].tensor);
    result.gradients.push_back(parameters[i].tensor.grad());
  }
  return result;
}

class Momentum final : public Optimizer {
 public:
  explicit Momentum(State parameters)
      : parameters_(std::move(parameters)), velocities_(zeros_like(parameters_)) {}

  void step(double rate) override {
    const at::NoGradGuard no_grad;
    const std::vector<std::size_t> which = with_gradients(parameters_);
    Stepped stepped = pick(parameters_, which);
    const Tensors velocities = pick(velocities_, which);
    at::_foreach_mul_(velocities, kMomentum);
    at::_foreach_add_(velocities, stepped.gradients);
    at::_foreach_add_(stepped.parameters, velocities, -rate);
  }

  State state() const override {
    State state;
    append(state, "velocity", parameters_, velocities_);
    return state;
  }

 private:
  static constexpr double kMomentum = 0.9;

  State parameters_;
  Tensors velocities_;
};

enum class Decay { kNone, kDecoupled };

class Adam final : public Optimizer {
 public:
  Adam(State parameters, Decay decay)
      : decay_(decay),
        parameters_(std::move(parameters)),
        means_(zeros_like(parameters_)),
        squares_(zeros_like(parameters_)) {
    for (const NamedTensor& parameter : parameters_) {
      steps_.push_back(at::zeros({}, parameter.tensor.options().dtype(at::kFloat)));
    }
  }

  void step(double rate) override {
    const at::NoGradGuard no_grad;
    const std::vector<std::size_t> which = with_gradients(parameters_);
    const Stepped stepped = pick(parameters_, which);
    const Tensors steps = pick(steps_, which);
    at::_foreach_add_(steps, 1);
    const auto update = decay_ == Decay::kDecoupled ? kDecoupledUpdate : kPlainUpdate;
    update(stepped.parameters, stepped.gradients, pick(means_, which), pick(squares_, which), {},
           steps, rate, /*beta1=*/0.9, /*beta2=*/0.999, decay_ == Decay::kDecoupled ? kDecay : 0.0,
           /*eps=*/1e-8, /*amsgrad=*/false,
           /*maximize=*/false, {}, {});
  }

  State state() const override {
    State state;
    append(state, "mean", parameters_, means_);
    append(state, "square", parameters_, squares_);
    append(state, "steps", parameters_, steps_);
    return state;
  }

 private:
  using Update = void (*)(at::TensorList, at::TensorList, at::TensorList, at::TensorList,
                          at::TensorList, at::TensorList, double, double, double, double, double,
                          bool, bool, const std::optional<at::Tensor>&,
                          const std::optional<at::Tensor>&);
  static constexpr Update kPlainUpdate = &at::_fused_adam_;
  static constexpr Update kDecoupledUpdate = &at::_fused_adamw_;
  static constexpr double kDecay = 0.01;

  const Decay decay_;
  State parameters_;
  Tensors means_, squares_, steps_;
};

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const std::string& name, State parameters) {
  if (name == "sgd") return std::make_unique<Momentum>(std::move(parameters));
  if (name == "adam") return std::make_unique<Adam>(std::move(parameters), Decay::kNone);
  if (name == "adamw") return std::make_unique<Adam>(std::move(parameters), Decay::kDecoupled);
  throw InvalidInput(base::concat("unknown optimizer '", name, "'; known are sgd, adam and adamw"));
}

double default_rate(const std::string& optimizer) { return optimizer == "sgd" ? 0.05 : 1e-3; }

}  // namespace lowtide::train
