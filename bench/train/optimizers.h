// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

// The optimizers of torch.optim as Python users get them on a GPU: one call for all parameters.
// libtorch's own go from parameter to parameter, which a GPU waits for.

namespace lowtide::bench {

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // Requires: every parameter has a gradient.
  virtual void step() = 0;
};

// SGD(lr=0.01, momentum=0.9, foreach=True).
std::unique_ptr<Optimizer> make_momentum(std::vector<at::Tensor> parameters);
// AdamW(lr=1e-4, fused=True).
std::unique_ptr<Optimizer> make_fused_adamw(std::vector<at::Tensor> parameters);

}  // namespace lowtide::bench
