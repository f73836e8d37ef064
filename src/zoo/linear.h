// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <torch/nn/modules/linear.h>

namespace lowtide::zoo {

// What Python's layer does. That of torch's C++ layer is the same, but it adds the bias in an op of
// its own when the input has three dimensions, which takes longer than the product on a GPU.
inline at::Tensor linear(const torch::nn::Linear& layer, const at::Tensor& x) {
  return at::linear(x, layer->weight, layer->bias);
}

}  // namespace lowtide::zoo
