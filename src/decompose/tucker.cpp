// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "decompose/tucker.h"

#include <cmath>

#include <ATen/ATen.h>

#include "decompose/linear_algebra.h"

namespace lowtide::decompose {
namespace {

// Trained weights take three; of random ones each sweep gives a little, for ever.
constexpr int kMostSweeps = 10;
// Of the weight's norm squared.
constexpr double kEnough = 1e-7;

// The dimension multiplied by the transposed matrix: from its rows to its columns.
at::Tensor project(const at::Tensor& weight, const at::Tensor& columns, std::int64_t dimension) {
  return at::tensordot(weight, columns, {dimension}, {0}).movedim(-1, dimension);
}

}  // namespace

Tucker2 tucker2(const at::Tensor& weight, std::int64_t input_rank, std::int64_t output_rank) {
  Tucker2 result;
  result.inputs = leading_vectors(unfold(weight, 1), input_rank);
  const double whole = weight.square().sum().item<double>();
  double kept = 0;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    const at::Tensor narrow = project(weight, result.inputs, 1);
    result.outputs = leading_vectors(unfold(narrow, 0), output_rank);
    result.inputs = leading_vectors(unfold(project(weight, result.outputs, 0), 1), input_rank);
    result.core = project(project(weight, result.inputs, 1), result.outputs, 0);
    const double now = result.core.square().sum().item<double>();
    if (now - kept <= kEnough * whole) break;
    kept = now;
  }
  return result;
}

}  // namespace lowtide::decompose
