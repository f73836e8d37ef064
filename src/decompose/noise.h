// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/core/Tensor.h>

namespace lowtide::decompose {

// Whether nothing of a weight stands out of random numbers, as of one that nobody has trained: its
// largest singular value is no larger than theirs (Marchenko and Pastur 1967). Then no rank keeps
// more than its share of it, and decomposing loses what there is. False for weights that are too
// small to tell. Takes a few products of the weight and a vector.
bool is_noise(const at::Tensor& weight);

}  // namespace lowtide::decompose
