// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace lowtide::decompose {

// W[t, s, ...] ~ sum over i, o of outputs[t, o] core[o, i, ...] inputs[s, i]; the columns of inputs
// and outputs are orthonormal, so that |W - W'|^2 = |W|^2 - |core|^2.
struct Tucker2 {
  at::Tensor inputs, core, outputs;
};

// Alternating (HOOI, De Lathauwer et al. 2000) over the first two dimensions, from the truncated
// singular vectors. Requires: a tensor of doubles, ranks from 1 to the dimensions.
Tucker2 tucker2(const at::Tensor& weight, std::int64_t input_rank, std::int64_t output_rank);

}  // namespace lowtide::decompose
