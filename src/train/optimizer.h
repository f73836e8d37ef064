// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "train/named_tensor.h"

// The optimizers of torch.optim as Python users get them: one call for all parameters, where
// libtorch's own go from parameter to parameter. Their states are there from the start, so that a
// checkpoint has the same tensors after any step.

namespace lowtide::train {

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // Changes the parameters that have gradients, at this learning rate.
  virtual void step(double rate) = 0;
  // "<state>/<parameter>".
  virtual State state() const = 0;
};

// By a name of train/optimizer_names.h, with momentum 0.9, betas 0.9 and 0.999, and for adamw a
// weight decay of 0.01. Throws InvalidInput for other names.
std::unique_ptr<Optimizer> make_optimizer(const std::string& name, State parameters);

// The learning rate for those who name none.
double default_rate(const std::string& optimizer);

}  // namespace lowtide::train
