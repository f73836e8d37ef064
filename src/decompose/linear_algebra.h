// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include <ATen/core/Tensor.h>

namespace lowtide::decompose {

// The tensor as a matrix: one row for each index of the dimension.
at::Tensor unfold(const at::Tensor& tensor, std::int64_t dimension);

// The singular values of a matrix, largest first, in double: roots of its Gram matrix's
// eigenvalues, which takes a fraction of the time of a decomposition.
at::Tensor singular_values(const at::Tensor& matrix);

// The first `count` left singular vectors of a matrix as columns, found the same way.
// Requires: no more than the matrix has rows.
at::Tensor leading_vectors(const at::Tensor& matrix, std::int64_t count);

// The singular values of a matrix, largest first, and the vectors of its smaller side as columns,
// found the same way.
struct SingularVectors {
  at::Tensor values;
  at::Tensor vectors;
  // Else of the columns.
  bool are_of_rows = true;
};
SingularVectors singular_vectors(const at::Tensor& matrix);

// What the spectrum and the forms of one weight share, so that it is computed once; empty at first.
// Requires: used for one weight only.
struct SharedVectors {
  // On the host, since it is as large as the weight.
  std::optional<SingularVectors> svd;
};
const SingularVectors& singular_vectors(const at::Tensor& matrix, SharedVectors& shared);

}  // namespace lowtide::decompose
