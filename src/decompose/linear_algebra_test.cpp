// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "decompose/linear_algebra.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace lowtide::decompose {
namespace {

TEST(LinearAlgebra, UnfoldingPutsADimensionFirst) {
  const at::Tensor tensor = at::arange(24).view({2, 3, 4});
  EXPECT_EQ(unfold(tensor, 1).sizes(), (std::vector<std::int64_t>{3, 8}));
  EXPECT_TRUE(at::equal(unfold(tensor, 1)[1], tensor.select(1, 1).flatten()));
}

TEST(LinearAlgebra, SingularValuesAreThoseOfTheDecompositionEitherWayRound) {
  torch::manual_seed(1);
  const at::Tensor matrix = at::randn({5, 9}, at::kDouble);
  const at::Tensor expected = at::linalg_svdvals(matrix);
  EXPECT_TRUE(at::allclose(singular_values(matrix), expected));
  EXPECT_TRUE(at::allclose(singular_values(matrix.t()), expected));
}

TEST(LinearAlgebra, LeadingVectorsKeepTheLargestSingularValues) {
  torch::manual_seed(1);
  const at::Tensor matrix = at::randn({6, 10}, at::kDouble);
  const at::Tensor vectors = leading_vectors(matrix, 2);
  EXPECT_TRUE(at::allclose(vectors.t().matmul(vectors), at::eye(2, at::kDouble)));
  const at::Tensor kept = vectors.t().matmul(matrix).square().sum();
  EXPECT_TRUE(at::allclose(kept, at::linalg_svdvals(matrix).slice(0, 0, 2).square().sum()));
}

}  // namespace
}  // namespace lowtide::decompose
