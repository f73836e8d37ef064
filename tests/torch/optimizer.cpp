// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "torch/optimizer.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace lowtide::torch_test {
namespace {

using torch::optim::OptimizerParamState;

// Collects what one parameter's state holds, under the parameter's number.
class StateList {
 public:
  void begin(std::size_t parameter) { prefix_ = "state" + std::to_string(parameter) + "."; }
  void add(const char* name, const at::Tensor& tensor) {
    if (tensor.defined()) items_.push_back({prefix_ + name, tensor});
  }
  void add(const char* name, double number) {
    items_.push_back({prefix_ + name, at::scalar_tensor(number, at::kDouble)});
  }
  template <class Tensors>
  void add_all(const char* name, const Tensors& tensors) {
    for (const at::Tensor& tensor : tensors) add(name, tensor);
  }
  std::vector<NamedTensor> take() { return std::move(items_); }

 private:
  std::string prefix_;
  std::vector<NamedTensor> items_;
};

template <class AdamState>
void list_adam(const AdamState& state, StateList& list) {
  list.add("step", static_cast<double>(state.step()));
  list.add("exp_avg", state.exp_avg());
  list.add("exp_avg_sq", state.exp_avg_sq());
  list.add("max_exp_avg_sq", state.max_exp_avg_sq());
}

void list_lbfgs(const torch::optim::LBFGSParamState& state, StateList& list) {
  list.add("func_evals", static_cast<double>(state.func_evals()));
  list.add("n_iter", static_cast<double>(state.n_iter()));
  list.add("t", state.t());
  list.add("prev_loss", state.prev_loss());
  list.add("d", state.d());
  list.add("H_diag", state.H_diag());
  list.add("prev_flat_grad", state.prev_flat_grad());
  list.add_all("old_dirs", state.old_dirs());
  list.add_all("old_stps", state.old_stps());
  list.add_all("ro", state.ro());
}

void list_state(const OptimizerParamState& state, StateList& list) {
  if (const auto* sgd = dynamic_cast<const torch::optim::SGDParamState*>(&state)) {
    list.add("momentum_buffer", sgd->momentum_buffer());
  } else if (const auto* adam = dynamic_cast<const torch::optim::AdamParamState*>(&state)) {
    list_adam(*adam, list);
  } else if (const auto* adamw = dynamic_cast<const torch::optim::AdamWParamState*>(&state)) {
    list_adam(*adamw, list);
  } else if (const auto* adagrad = dynamic_cast<const torch::optim::AdagradParamState*>(&state)) {
    list.add("step", static_cast<double>(adagrad->step()));
    list.add("sum", adagrad->sum());
  } else if (const auto* rmsprop = dynamic_cast<const torch::optim::RMSpropParamState*>(&state)) {
    list.add("square_avg", rmsprop->square_avg());
    list.add("momentum_buffer", rmsprop->momentum_buffer());
    list.add("grad_avg", rmsprop->grad_avg());
  } else if (const auto* lbfgs = dynamic_cast<const torch::optim::LBFGSParamState*>(&state)) {
    list_lbfgs(*lbfgs, list);
  } else {
    TORCH_CHECK(false, "the tests do not know the state of this optimizer");
  }
}

class TorchOptimizer final : public Optimizer {
 public:
  TorchOptimizer(std::vector<at::Tensor> parameters,
                 std::unique_ptr<torch::optim::Optimizer> optimizer)
      : parameters_(std::move(parameters)), optimizer_(std::move(optimizer)) {}

  at::Tensor step(const Closure& closure) override { return optimizer_->step(closure); }

  std::vector<NamedTensor> state() const override {
    StateList list;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const auto& states = optimizer_->state();
      const auto found = states.find(parameters_[i].unsafeGetTensorImpl());
      if (found == states.end()) continue;
      list.begin(i);
      list_state(*found->second, list);
    }
    return list.take();
  }

 private:
  std::vector<at::Tensor> parameters_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
};

// What the multi-tensor optimizers share: lists with one entry a parameter, made at the first step.
class ListOptimizer : public Optimizer {
 public:
  explicit ListOptimizer(std::vector<at::Tensor> parameters) : parameters_(std::move(parameters)) {}

  at::Tensor step(const Closure& closure) override {
    at::Tensor loss = closure();
    const torch::NoGradGuard no_grad;
    std::vector<at::Tensor> gradients;
    gradients.reserve(parameters_.size());
    for (const at::Tensor& parameter : parameters_) gradients.push_back(parameter.grad());
    update(gradients);
    ++steps_done_;
    return loss;
  }

 protected:
  virtual void update(const std::vector<at::Tensor>& gradients) = 0;

  const std::vector<at::Tensor>& parameters() const { return parameters_; }
  std::int64_t steps_done() const { return steps_done_; }
  std::vector<at::Tensor> zeros() const {
    std::vector<at::Tensor> result;
    result.reserve(parameters_.size());
    for (const at::Tensor& parameter : parameters_) result.push_back(at::zeros_like(parameter));
    return result;
  }

 private:
  std::vector<at::Tensor> parameters_;
  std::int64_t steps_done_ = 0;
};

enum class Decay { kInGradient, kDecoupled };

// The op sequence of _multi_tensor_adam in torch/optim/adam.py, with weight decay as Adam and as
// AdamW have it.
class ForeachAdam final : public ListOptimizer {
 public:
  ForeachAdam(std::vector<at::Tensor> parameters, Decay decay)
      : ListOptimizer(std::move(parameters)), decay_(decay) {}

  std::vector<NamedTensor> state() const override {
    StateList list;
    for (std::size_t i = 0; i < exp_avgs_.size(); ++i) {
      list.begin(i);
      list.add("step", steps_[i]);
      list.add("exp_avg", exp_avgs_[i]);
      list.add("exp_avg_sq", exp_avg_sqs_[i]);
    }
    return list.take();
  }

 private:
  void begin() {
    exp_avgs_ = zeros();
    exp_avg_sqs_ = zeros();
    for (std::size_t i = 0; i < parameters().size(); ++i) {
      steps_.push_back(at::scalar_tensor(0.0, at::kFloat));
    }
  }

  void update(const std::vector<at::Tensor>& plain_gradients) override {
    constexpr double kRate = 0.001, kBeta1 = 0.9, kBeta2 = 0.999, kEps = 1e-8, kDecay = 0.01;
    if (steps_done() == 0) begin();
    at::_foreach_add_(steps_, at::scalar_tensor(1.0, at::kFloat), 1.0);
    std::vector<at::Tensor> gradients = plain_gradients;
    if (decay_ == Decay::kDecoupled) {
      at::_foreach_mul_(parameters(), 1 - kRate * kDecay);
    } else {
      gradients = at::_foreach_add(plain_gradients, parameters(), kDecay);
    }
    at::_foreach_lerp_(exp_avgs_, gradients, 1 - kBeta1);
    at::_foreach_mul_(exp_avg_sqs_, kBeta2);
    at::_foreach_addcmul_(exp_avg_sqs_, gradients, gradients, 1 - kBeta2);
    std::vector<at::Scalar> roots;
    std::vector<at::Scalar> sizes;
    for (const at::Tensor& step_tensor : steps_) {
      const double step = step_tensor.item<double>();
      sizes.emplace_back(-kRate / (1 - std::pow(kBeta1, step)));
      roots.emplace_back(std::sqrt(1 - std::pow(kBeta2, step)));
    }
    const std::vector<at::Tensor> denominators = at::_foreach_sqrt(exp_avg_sqs_);
    at::_foreach_div_(denominators, roots);
    at::_foreach_add_(denominators, kEps);
    at::_foreach_addcdiv_(parameters(), exp_avgs_, denominators, sizes);
  }

  Decay decay_;
  std::vector<at::Tensor> steps_;
  std::vector<at::Tensor> exp_avgs_;
  std::vector<at::Tensor> exp_avg_sqs_;
};

// What SGD keeps, whoever computes it.
class MomentumSgd : public ListOptimizer {
 public:
  using ListOptimizer::ListOptimizer;

  std::vector<NamedTensor> state() const override {
    StateList list;
    for (std::size_t i = 0; i < momentum_.size(); ++i) {
      list.begin(i);
      list.add("momentum_buffer", momentum_[i]);
    }
    return list.take();
  }

 protected:
  std::vector<at::Tensor>& momentum() { return momentum_; }

 private:
  std::vector<at::Tensor> momentum_;
};

// As torch/optim/sgd.py has it on lists, with momentum and weight decay.
class ForeachSgd final : public MomentumSgd {
 public:
  using MomentumSgd::MomentumSgd;

 private:
  void update(const std::vector<at::Tensor>& plain_gradients) override {
    constexpr double kRate = 0.01, kMomentum = 0.9, kDecay = 0.0001;
    const std::vector<at::Tensor> gradients =
        at::_foreach_add(plain_gradients, parameters(), kDecay);
    if (steps_done() == 0) {
      for (const at::Tensor& gradient : gradients) momentum().push_back(gradient.clone());
    } else {
      at::_foreach_mul_(momentum(), kMomentum);
      at::_foreach_add_(momentum(), gradients, 1.0);
    }
    at::_foreach_add_(parameters(), momentum(), -kRate);
  }
};

// at::_fused_adam_ and at::_fused_adamw_, the latter with amsgrad.
class FusedAdam final : public ListOptimizer {
 public:
  FusedAdam(std::vector<at::Tensor> parameters, Decay decay)
      : ListOptimizer(std::move(parameters)), decay_(decay) {}

  std::vector<NamedTensor> state() const override {
    StateList list;
    for (std::size_t i = 0; i < exp_avgs_.size(); ++i) {
      list.begin(i);
      list.add("step", steps_[i]);
      list.add("exp_avg", exp_avgs_[i]);
      list.add("exp_avg_sq", exp_avg_sqs_[i]);
      if (!max_exp_avg_sqs_.empty()) list.add("max_exp_avg_sq", max_exp_avg_sqs_[i]);
    }
    return list.take();
  }

 private:
  void begin() {
    exp_avgs_ = zeros();
    exp_avg_sqs_ = zeros();
    if (decay_ == Decay::kDecoupled) max_exp_avg_sqs_ = zeros();
    for (const at::Tensor& parameter : parameters()) {
      steps_.push_back(at::zeros({}, parameter.options()));
    }
  }

  void update(const std::vector<at::Tensor>& gradients) override {
    constexpr double kRate = 0.001, kBeta1 = 0.9, kBeta2 = 0.999, kEps = 1e-8, kDecay = 0.01;
    if (steps_done() == 0) begin();
    at::_foreach_add_(steps_, 1);
    if (decay_ == Decay::kDecoupled) {
      at::_fused_adamw_(parameters(), gradients, exp_avgs_, exp_avg_sqs_, max_exp_avg_sqs_, steps_,
                        kRate, kBeta1, kBeta2, kDecay, kEps, true, false);
    } else {
      at::_fused_adam_(parameters(), gradients, exp_avgs_, exp_avg_sqs_, {}, steps_, kRate, kBeta1,
                       kBeta2, kDecay, kEps, false, false);
    }
  }

  Decay decay_;
  std::vector<at::Tensor> steps_;
  std::vector<at::Tensor> exp_avgs_;
  std::vector<at::Tensor> exp_avg_sqs_;
  std::vector<at::Tensor> max_exp_avg_sqs_;
};

class FusedSgd final : public MomentumSgd {
 public:
  using MomentumSgd::MomentumSgd;

 private:
  void update(const std::vector<at::Tensor>& gradients) override {
    constexpr double kRate = 0.01, kMomentum = 0.9, kDecay = 0.0001;
    const bool is_first = steps_done() == 0;
    // As torch/optim/sgd.py: uninitialised until the kernel writes it in the first step.
    for (std::size_t i = 0; is_first && i < gradients.size(); ++i) {
      momentum().push_back(at::empty_like(gradients[i]));
    }
    at::_fused_sgd_(parameters(), gradients, momentum(), kDecay, kMomentum, kRate, 0.0, false,
                    false, is_first);
  }
};

template <class Torch, class Options>
MakeOptimizer of_torch(Options options) {
  return [options](const std::vector<at::Tensor>& parameters) {
    return wrap(parameters, std::make_unique<Torch>(parameters, options));
  };
}

}  // namespace

std::unique_ptr<Optimizer> wrap(std::vector<at::Tensor> parameters,
                                std::unique_ptr<torch::optim::Optimizer> optimizer) {
  return std::make_unique<TorchOptimizer>(std::move(parameters), std::move(optimizer));
}

std::unique_ptr<Optimizer> make_foreach_adam(std::vector<at::Tensor> parameters) {
  return std::make_unique<ForeachAdam>(std::move(parameters), Decay::kInGradient);
}

std::unique_ptr<Optimizer> make_foreach_adamw(std::vector<at::Tensor> parameters) {
  return std::make_unique<ForeachAdam>(std::move(parameters), Decay::kDecoupled);
}

std::unique_ptr<Optimizer> make_foreach_sgd(std::vector<at::Tensor> parameters) {
  return std::make_unique<ForeachSgd>(std::move(parameters));
}

std::unique_ptr<Optimizer> make_fused_adam(std::vector<at::Tensor> parameters) {
  return std::make_unique<FusedAdam>(std::move(parameters), Decay::kInGradient);
}

std::unique_ptr<Optimizer> make_fused_adamw(std::vector<at::Tensor> parameters) {
  return std::make_unique<FusedAdam>(std::move(parameters), Decay::kDecoupled);
}

std::unique_ptr<Optimizer> make_fused_sgd(std::vector<at::Tensor> parameters) {
  return std::make_unique<FusedSgd>(std::move(parameters));
}

const std::vector<OptimizerRow>& optimizers() {
  using namespace torch::optim;  // NOLINT(google-build-using-namespace): a table of its names
  static const std::vector<OptimizerRow> rows = {
      {"sgd", of_torch<SGD>(SGDOptions(0.01))},
      {"sgd_momentum", of_torch<SGD>(SGDOptions(0.01).momentum(0.9).weight_decay(0.0001))},
      {"sgd_nesterov", of_torch<SGD>(SGDOptions(0.01).momentum(0.9).nesterov(true))},
      {"adam", of_torch<Adam>(AdamOptions(0.001))},
      {"adam_amsgrad", of_torch<Adam>(AdamOptions(0.001).amsgrad(true).weight_decay(0.01))},
      {"adamw", of_torch<AdamW>(AdamWOptions(0.001))},
      {"adagrad", of_torch<Adagrad>(AdagradOptions(0.01))},
      {"rmsprop", of_torch<RMSprop>(RMSpropOptions(0.001).momentum(0.9).centered(true))},
      {"lbfgs", of_torch<LBFGS>(LBFGSOptions(0.1).max_iter(3).history_size(4))},
      {"foreach_adam", make_foreach_adam},
      {"foreach_adamw", make_foreach_adamw},
      {"foreach_sgd", make_foreach_sgd},
      {"fused_adam", make_fused_adam},
      {"fused_adamw", make_fused_adamw},
      {"fused_sgd", make_fused_sgd},
  };
  return rows;
}

}  // namespace lowtide::torch_test
