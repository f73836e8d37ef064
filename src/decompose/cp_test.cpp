// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "decompose/cp.h"

#include <cmath>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace lowtide::decompose {
namespace {

at::Tensor sum_of_terms(const std::vector<at::Tensor>& factors) {
  return at::einsum("tr,sr,kr->tsk", factors);
}

double distance(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).norm().item<double>() / b.norm().item<double>();
}

TEST(Cp, APlantedSumIsFoundAgain) {
  torch::manual_seed(3);
  const at::Tensor planted =
      sum_of_terms({at::randn({9, 4}, at::kDouble), at::randn({8, 4}, at::kDouble),
                    at::randn({7, 4}, at::kDouble)});
  const Cp found = cp(planted, 4);
  EXPECT_LT(found.relative_error, 1e-3);
  EXPECT_LT(distance(sum_of_terms(found.factors), planted), 1e-3);
}

TEST(Cp, TheErrorThatIsToldIsTheErrorThatIsThere) {
  torch::manual_seed(4);
  const at::Tensor tensor = at::randn({12, 10, 9}, at::kDouble);
  const Cp found = cp(tensor, 6);
  EXPECT_NEAR(distance(sum_of_terms(found.factors), tensor), found.relative_error, 1e-9);
}

TEST(Cp, TheColumnsOfATermAreEquallyLong) {
  torch::manual_seed(5);
  const Cp found = cp(at::randn({6, 5, 4}, at::kDouble), 3);
  const at::Tensor lengths = found.factors[0].norm(2, 0);
  EXPECT_LT(distance(found.factors[1].norm(2, 0), lengths), 1e-9);
  EXPECT_LT(distance(found.factors[2].norm(2, 0), lengths), 1e-9);
}

// a a b + a b a + b a a has rank 3, but two terms that cancel each other come as close as one
// likes.
TEST(Cp, TermsThatCancelEachOtherAreMadeShorterAtTheSameError) {
  const at::Tensor a = at::tensor({1.0, 0.0}), b = at::tensor({0.0, 1.0});
  const at::Tensor tensor = at::einsum("i,j,k->ijk", {a, a, b}) +
                            at::einsum("i,j,k->ijk", {a, b, a}) +
                            at::einsum("i,j,k->ijk", {b, a, a});
  const double d = 1e-3;
  const at::Tensor with = at::stack({a + d * b, a}, 1), scaled = with * at::tensor({1 / d, -1 / d});
  Cp cancelling = {.factors = {scaled, with, with}};
  cancelling.relative_error = distance(sum_of_terms(cancelling.factors), tensor);
  // (2 / d^2) / 3, nearly.
  cancelling.degeneracy = 2 / (d * d) / 3;
  const double bound = 0.05;
  Cp allowed = cancelling;
  allowed.relative_error = bound;
  const Cp corrected = correct(tensor, allowed, 0.01);
  EXPECT_LT(corrected.degeneracy, cancelling.degeneracy / 100);
  EXPECT_LE(distance(sum_of_terms(corrected.factors), tensor), bound * 1.01 + 1e-9);
}

}  // namespace
}  // namespace lowtide::decompose
