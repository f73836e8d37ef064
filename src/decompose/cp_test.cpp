// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "decompose/cp.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "decompose/factors.h"
#include "lowtide/errors.h"

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

TEST(Cp, FewSweepsEndFartherFromIt) {
  torch::manual_seed(3);
  const at::Tensor tensor = at::randn({16, 16, 9}, at::kDouble);
  const double one = cp(tensor, 12, 1).relative_error, ten = cp(tensor, 12, 10).relative_error;
  EXPECT_GT(one, ten);
  EXPECT_GT(ten, cp(tensor, 12).relative_error);
  EXPECT_LT(one, 1);
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

// Multiplies polynomials and forgets coefficients above `degree`: as close as one likes to rank
// degree + 1, with terms that cancel each other the more the higher it is.
at::Tensor products_up_to(std::int64_t degree, at::IntArrayRef sizes) {
  at::Tensor tensor = at::zeros(sizes, at::kDouble);
  for (std::int64_t i = 0; i < sizes[0]; ++i) {
    for (std::int64_t j = 0; j < sizes[1]; ++j) {
      const std::int64_t k = degree - i - j;
      if (k >= 0 && k < sizes[2]) tensor[i][j][k] = 1;
    }
  }
  return tensor;
}

// Three terms, two long ones that all but cancel each other, and what no term explains.
struct LongTerms {
  explicit LongTerms(std::uint64_t seed) {
    torch::manual_seed(seed);
    std::vector<at::Tensor> factors;
    for (const int size : {8, 7, 9}) factors.push_back(at::randn({size, 5}, at::kDouble));
    for (at::Tensor& factor : factors) factor.select(1, 4).copy_(factor.select(1, 3));
    factors[0].select(1, 3).mul_(1000);
    factors[0].select(1, 4).mul_(-1000).add_(at::randn({8}, at::kDouble));
    tensor = sum_of_terms(factors) + 0.5 * at::randn({8, 7, 9}, at::kDouble);
    cp = {.factors = factors};
    cp.relative_error = distance(sum_of_terms(factors), tensor);
    cp.degeneracy = 1e5;
  }
  at::Tensor tensor;
  Cp cp;
};

TEST(Cp, TermsThatAreNotNeededAreMadeShorterAndTheErrorStays) {
  const auto [tensor, long_ones] = LongTerms(6);
  ASSERT_GT(long_ones.relative_error, 0.05);
  const double slack = 0.002;
  const Cp corrected = correct(tensor, long_ones, slack);
  EXPECT_LE(distance(sum_of_terms(corrected.factors), tensor),
            long_ones.relative_error * (1 + slack) + 1e-9);
  EXPECT_NEAR(distance(sum_of_terms(corrected.factors), tensor), corrected.relative_error, 1e-9);
  EXPECT_LT(corrected.degeneracy, 10);
}

// Of the factor that is changed last: where the sum of the squares of the terms' norms is the least
// at this error, its gradient is a multiple of the error's.
TEST(Cp, NoShorterTermsHaveTheSameError) {
  for (const std::uint64_t seed : {6U, 7U, 8U}) {
    const auto [tensor, long_ones] = LongTerms(seed);
    const std::vector<at::Tensor> f = correct(tensor, long_ones, 0.002).factors;
    const at::Tensor gram = f[0].t().matmul(f[0]) * f[1].t().matmul(f[1]);
    const at::Tensor of_error =
        at::einsum("tsk,tr,sr->kr", {tensor, f[0], f[1]}) - f[2].matmul(gram);
    const at::Tensor of_lengths = f[2] * gram.diagonal();
    const double cosine =
        ((of_error * of_lengths).sum() / (of_error.norm() * of_lengths.norm())).item<double>();
    EXPECT_GT(cosine, 1 - 1e-6) << seed;
  }
}

TEST(Cp, WhatLeastSquaresFindIsCorrectedWhereItsTermsCancelEachOther) {
  for (const int seed : {1, 2, 3}) {
    torch::manual_seed(static_cast<std::uint64_t>(seed));
    const at::Tensor tensor =
        products_up_to(2, {6, 6, 9}) + 0.1 * at::randn({6, 6, 9}, at::kDouble);
    const Cp found = cp(tensor, 3);
    // 60 and more without.
    EXPECT_LT(found.degeneracy, 45) << seed;
    EXPECT_NEAR(distance(sum_of_terms(found.factors), tensor), found.relative_error, 1e-9);
  }
}

TEST(Cp, AStartFromWhichEverythingDiesOutIsJustAsBadAsItIs) {
  // Two of a a b + a b a + b a a beside each other.
  at::Tensor tensor = at::zeros({4, 4, 9}, at::kDouble);
  for (const int i : {0, 2}) {
    tensor[i][i][i + 1] = 1;
    tensor[i][i + 1][i] = 1;
    tensor[i + 1][i][i] = 1;
  }
  EXPECT_LT(cp(tensor, 4).relative_error, 0.05);
}

TEST(Cp, TermsThatCancelEachOtherTooFarAreRefusedWithWhatElseToDo) {
  const at::Tensor weight = products_up_to(5, {6, 6, 9}).view({6, 6, 3, 3});
  try {
    static_cast<void>(factorise(weight, {Decomposition::kCp3, {6}}));
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("cp is degenerate at rank 6"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("use another rank, such as 3, or tucker2"));
  }
}

}  // namespace
}  // namespace lowtide::decompose
