// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include <ATen/core/Tensor.h>

// torch.utils.checkpoint (its reentrant form) for libtorch.

namespace lowtide::zoo {

using Region = std::function<at::Tensor(const at::Tensor&)>;

// Runs `region` without keeping what its backward needs; backward runs it again, with the random
// numbers and the autocasting of the first time. A region that counts its runs, as BatchNorm does,
// counts twice. Requires: `input` requires a gradient, else the region's parameters get none.
at::Tensor checkpoint(Region region, const at::Tensor& input);

}  // namespace lowtide::zoo
