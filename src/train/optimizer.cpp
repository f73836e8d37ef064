// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/optimizer.h"

#include <array>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "base/check.h"
#include "base/suggest.h"
#include "train/optimizer_names.h"

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

// Without a state.
class Descent final : public Optimizer {
 public:
  explicit Descent(State parameters) : parameters_(std::move(parameters)) {}

  void step(double rate) override {
    const at::NoGradGuard no_grad;
    const Stepped stepped = pick(parameters_, with_gradients(parameters_));
    if (stepped.parameters.empty()) return;
    at::_foreach_add_(stepped.parameters, stepped.gradients, -rate);
  }

  State state() const override { return {}; }

 private:
  State parameters_;
};

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

// One kernel for all of an update, which takes no memory; or one for each of its operations, which
// holds the roots of the squares meanwhile: as much again as the parameters.
enum class Form { kFused, kForeach };

constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8, kWeightDecay = 0.01;

class Adam final : public Optimizer {
 public:
  Adam(State parameters, Decay decay, Form form)
      : decay_(decay),
        form_(form),
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
    if (steps.empty()) return;
    at::_foreach_add_(steps, 1);
    if (form_ == Form::kFused) {
      update_fused(stepped, which, steps, rate);
    } else {
      update_each(stepped, which, steps, rate);
    }
  }

  State state() const override {
    State state;
    append(state, "mean", parameters_, means_);
    append(state, "square", parameters_, squares_);
    append(state, "steps", parameters_, steps_);
    return state;
  }

 private:
  void update_fused(const Stepped& stepped, const std::vector<std::size_t>& which,
                    const Tensors& steps, double rate) {
    const auto update = decay_ == Decay::kDecoupled ? kDecoupledUpdate : kPlainUpdate;
    update(stepped.parameters, stepped.gradients, pick(means_, which), pick(squares_, which), {},
           steps, rate, kBeta1, kBeta2, decay_ == Decay::kDecoupled ? kWeightDecay : 0.0, kEpsilon,
           /*amsgrad=*/false, /*maximize=*/false, {}, {});
  }

  // As torch.optim's with foreach=True and capturable=True: no count is read by the host.
  void update_each(const Stepped& stepped, const std::vector<std::size_t>& which,
                   const Tensors& steps, double rate) {
    const Tensors means = pick(means_, which), squares = pick(squares_, which);
    if (decay_ == Decay::kDecoupled) {
      at::_foreach_mul_(stepped.parameters, 1 - rate * kWeightDecay);
    }
    at::_foreach_lerp_(means, stepped.gradients, 1 - kBeta1);
    at::_foreach_mul_(squares, kBeta2);
    at::_foreach_addcmul_(squares, stepped.gradients, stepped.gradients, 1 - kBeta2);
    // -rate / (1 - beta1^n) and the root of 1 - beta2^n.
    const Tensors shares = at::_foreach_pow(kBeta1, steps);
    at::_foreach_sub_(shares, 1);
    at::_foreach_div_(shares, rate);
    at::_foreach_reciprocal_(shares);
    const Tensors corrections = at::_foreach_pow(kBeta2, steps);
    at::_foreach_sub_(corrections, 1);
    at::_foreach_neg_(corrections);
    at::_foreach_sqrt_(corrections);
    const Tensors roots = at::_foreach_sqrt(squares);
    at::_foreach_div_(roots, corrections);
    at::_foreach_add_(roots, kEpsilon);
    at::_foreach_div_(roots, shares);
    at::_foreach_addcdiv_(stepped.parameters, means, roots);
  }

  using Update = void (*)(at::TensorList, at::TensorList, at::TensorList, at::TensorList,
                          at::TensorList, at::TensorList, double, double, double, double, double,
                          bool, bool, const std::optional<at::Tensor>&,
                          const std::optional<at::Tensor>&);
  static constexpr Update kPlainUpdate = &at::_fused_adam_;
  static constexpr Update kDecoupledUpdate = &at::_fused_adamw_;

  const Decay decay_;
  const Form form_;
  State parameters_;
  Tensors means_, squares_, steps_;
};

struct Named {
  const char* name;
  std::unique_ptr<Optimizer> (*make)(State parameters);
};

template <Decay decay, Form form>
std::unique_ptr<Optimizer> make_adam(State parameters) {
  return std::make_unique<Adam>(std::move(parameters), decay, form);
}

constexpr std::array<Named, 6> kOptimizers = {
    {{"sgd",
      [](State state) -> std::unique_ptr<Optimizer> {
        return std::make_unique<Momentum>(std::move(state));
      }},
     {"sgd_plain",
      [](State state) -> std::unique_ptr<Optimizer> {
        return std::make_unique<Descent>(std::move(state));
      }},
     {"adam", &make_adam<Decay::kNone, Form::kFused>},
     {"adamw", &make_adam<Decay::kDecoupled, Form::kFused>},
     {"adam_foreach", &make_adam<Decay::kNone, Form::kForeach>},
     {"adamw_foreach", &make_adam<Decay::kDecoupled, Form::kForeach>}}};

}  // namespace

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const Named& optimizer : kOptimizers) names.emplace_back(optimizer.name);
  return names;
}

std::unique_ptr<Optimizer> make_optimizer(const std::string& name, State parameters) {
  for (const Named& optimizer : kOptimizers) {
    if (name == optimizer.name) return optimizer.make(std::move(parameters));
  }
  throw InvalidInput(
      base::concat("unknown optimizer '", name, "'; known are ", base::join(optimizer_names())));
}

double default_rate(const std::string& optimizer) {
  return optimizer.starts_with("sgd") ? 0.05 : 1e-3;
}

}  // namespace lowtide::train
