// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "estimate/gpus.h"
#include "estimate/torch/op_workspaces.h"

// What cuDNN takes for convolutions.

namespace lowtide::estimate {

// Of aten::convolution.
std::int64_t forward_convolution_bytes(const OpCall& call, const Architecture& gpu);
// Of aten::convolution_backward: for the gradient of the input, which comes first, and for that of
// the weight.
std::int64_t input_gradient_bytes(const OpCall& call);
std::int64_t weight_gradient_bytes(const OpCall& call, const Architecture& gpu);

}  // namespace lowtide::estimate
