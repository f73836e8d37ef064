// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/core/Tensor.h>

#include "decompose/factors.h"

namespace lowtide::decompose {

// Factors of higher ranks with the same product, so that nothing is forgotten that the narrow ones
// learned. The new terms begin at nothing and point where the product lacks most of `weight`:
// training moves them from the first step on, as it could not if all their factors were zero.
// `form`: of the same method, with no rank lower. Throws InvalidInput for any other, for ranks that
// such a weight cannot have, and where what is lacking cannot be decomposed so (CP: degenerate).
Factored widened(const Factored& narrow, const LayerForm& form, const at::Tensor& weight,
                 int cp_sweeps = kMostSweeps);

}  // namespace lowtide::decompose
