// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include <ATen/core/Tensor.h>

// torch.utils.checkpoint for C++, as users of libtorch write it.

namespace lowtide::torch_test {

using Region = std::function<at::Tensor(const at::Tensor&)>;

// Runs `region` without keeping what its backward needs; backward runs it again, with the random
// numbers of the first time. Requires: `input` requires a gradient, else none would come about.
at::Tensor checkpoint(Region region, const at::Tensor& input);

}  // namespace lowtide::torch_test
