// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "decompose/linear_algebra.h"

#include <tuple>

#include <ATen/ATen.h>

#include "base/check.h"

namespace lowtide::decompose {
namespace {

// With the smaller side's number of rows.
at::Tensor gram(const at::Tensor& matrix) {
  const at::Tensor flat = matrix.size(0) <= matrix.size(1) ? matrix : matrix.t();
  return flat.matmul(flat.t());
}

}  // namespace

at::Tensor unfold(const at::Tensor& tensor, std::int64_t dimension) {
  return tensor.movedim(dimension, 0).flatten(1);
}

at::Tensor singular_values(const at::Tensor& matrix) {
  return at::linalg_eigvalsh(gram(matrix.to(at::kDouble))).clamp_min(0).sqrt().flip(0);
}

at::Tensor leading_vectors(const at::Tensor& matrix, std::int64_t count) {
  LT_CHECK(count >= 1 && count <= matrix.size(0), "vectors asked for: ", count);
  const at::Tensor vectors = std::get<1>(at::linalg_eigh(matrix.matmul(matrix.t())));
  return vectors.slice(1, matrix.size(0) - count).flip(1);
}

SingularVectors singular_vectors(const at::Tensor& matrix) {
  const auto [values, vectors] = at::linalg_eigh(gram(matrix.to(at::kDouble)));
  return {values.clamp_min(0).sqrt().flip(0), vectors.flip(1), matrix.size(0) <= matrix.size(1)};
}

const SingularVectors& singular_vectors(const at::Tensor& matrix, SharedVectors& shared) {
  if (!shared.svd) {
    const SingularVectors found = singular_vectors(matrix);
    shared.svd = {found.values.cpu(), found.vectors.cpu(), found.are_of_rows};
  }
  return *shared.svd;
}

}  // namespace lowtide::decompose
