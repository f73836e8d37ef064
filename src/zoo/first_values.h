// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <torch/nn/module.h>

// First values of weights, as several families have them.

namespace lowtide::zoo {

// Of each convolution in the net: normal, so that what flows back keeps its variance through a ReLU
// (He et al. 2015b, equation 14); biases zero.
void set_convolutions_by_outputs(torch::nn::Module& net);
// The same for what flows forward (equation 10).
void set_convolutions_by_inputs(torch::nn::Module& net);
// Of each linear layer in the net: normal; biases zero.
void set_linears(torch::nn::Module& net, double deviation);
// Of each convolution and linear layer in the net: normal, cut off at 2; biases are left alone.
void set_all_cut_off(torch::nn::Module& net, double deviation);
// Normal around zero, cut off at plus and minus 2, whatever the deviation: so has it torch.
void set_cut_off(const at::Tensor& weight, double deviation);

}  // namespace lowtide::zoo
