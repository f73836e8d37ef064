// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "decompose/factors.h"

// A tensor that takes the place of a decomposed layer's weight. The layers of libtorch have no
// hooks and call torch's operators with their member `weight`, as users do; so what they call
// decides. The stand-in has the weight's sizes and type and no memory, and a dispatch key above
// autograd of which conv2d and linear (and what nn::Linear makes of it: t, matmul, addmm) have
// kernels here. These call the same operators with the factors, which autograd, autocast and
// Lowtide's interceptor then see as in any other model. Any other operator refuses it.

namespace lowtide::decompose {

struct StandIn {
  // For messages.
  std::string layer;
  std::vector<std::int64_t> sizes;
  // Handles of the layer's parameters: what moves or loads these does so in place.
  Factored factored;
  // Told of each input, if set.
  std::function<void(const at::Tensor& input)> on_use{};
};

at::Tensor make_stand_in(StandIn stand_in);

// nullptr: it is an ordinary tensor. Alive as long as the tensor is.
const StandIn* stand_in_of(const at::Tensor& tensor);

// What an operator with such a weight gives.
struct ConvolutionSettings {
  std::vector<std::int64_t> stride, padding, dilation;
};
at::Tensor convolve(const at::Tensor& input, const StandIn& weight, const at::Tensor& bias,
                    const ConvolutionSettings& settings);
at::Tensor multiply(const at::Tensor& input, const StandIn& weight, const at::Tensor& bias);

}  // namespace lowtide::decompose
