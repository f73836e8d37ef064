// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace lowtide::decompose {

// A tensor as a sum of rank-one terms: term r is the outer product of the columns r of all factors.
// A column's length is the same in all factors.
struct Cp {
  std::vector<at::Tensor> factors;
  double relative_error = 0;
  // The squares of the norms of all terms over that of their sum: 1 to 10 is healthy, in the
  // thousands terms cancel each other, and training such factors diverges (Phan et al. 2020).
  double degeneracy = 1;
};

// Where a start ends that has not settled before.
inline constexpr int kMostSweeps = 300;

// Alternating least squares with a small ridge, from the leading singular vectors and from random
// factors, whichever comes closest; if the terms cancel each other, correct() follows.
// Requires: a tensor of doubles that is not all zeros, a rank and sweeps of at least 1.
Cp cp(const at::Tensor& tensor, std::int64_t rank, int most_sweeps = kMostSweeps);

// The error-preserving correction (Phan et al. 2020, section 3): smaller terms at the same error,
// within `slack` of it, or at 0.001 where it is less. One factor at a time, which makes each a
// ridge problem whose weight is found by bisection.
Cp correct(const at::Tensor& tensor, Cp cp, double slack);

}  // namespace lowtide::decompose
