// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "torch/program.h"

// One interface for torch's optimizers and for those written on its multi-tensor ops.

namespace lowtide::torch_test {

class Optimizer {
 public:
  // Computes the loss and its gradients.
  using Closure = std::function<at::Tensor()>;

  Optimizer() = default;
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // Calls the closure once, or as often as the method asks for, and writes the parameters. Gives
  // the loss of the first call.
  virtual at::Tensor step(const Closure& closure) = 0;
  virtual std::vector<NamedTensor> state() const = 0;
};

using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(std::vector<at::Tensor> parameters)>;

struct OptimizerRow {
  std::string name;
  MakeOptimizer make;
};

// torch's SGD, Adam, AdamW, Adagrad, RMSprop and LBFGS with the options that change what they keep;
// Adam, AdamW and SGD on _foreach ops as torch/optim writes them; the fused kernels.
const std::vector<OptimizerRow>& optimizers();

std::unique_ptr<Optimizer> wrap(std::vector<at::Tensor> parameters,
                                std::unique_ptr<torch::optim::Optimizer> optimizer);
std::unique_ptr<Optimizer> make_foreach_adam(std::vector<at::Tensor> parameters);
std::unique_ptr<Optimizer> make_foreach_adamw(std::vector<at::Tensor> parameters);
std::unique_ptr<Optimizer> make_foreach_sgd(std::vector<at::Tensor> parameters);
std::unique_ptr<Optimizer> make_fused_adam(std::vector<at::Tensor> parameters);
std::unique_ptr<Optimizer> make_fused_adamw(std::vector<at::Tensor> parameters);
std::unique_ptr<Optimizer> make_fused_sgd(std::vector<at::Tensor> parameters);

}  // namespace lowtide::torch_test
