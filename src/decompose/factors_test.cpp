// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "decompose/factors.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "decompose/linear_algebra.h"
#include "decompose/tucker.h"
#include "lowtide/errors.h"

namespace lowtide::decompose {
namespace {

// So little work is done sooner by one, above all while other tests run.
const bool kHasOneThread = (at::set_num_threads(1), true);

at::Tensor weight(at::IntArrayRef sizes) {
  torch::manual_seed(1);
  return at::randn(sizes, at::kDouble);
}

double squares(const at::Tensor& tensor) { return tensor.square().sum().item<double>(); }

TEST(Tucker2, WhatIsLostIsTheNormThatTheCoreLacks) {
  const at::Tensor w = weight({12, 10, 3, 3});
  const Tucker2 found = tucker2(w, 5, 6);
  const at::Tensor again =
      at::einsum("to,oihw,si->tshw", {found.outputs, found.core, found.inputs});
  EXPECT_NEAR(squares(w - again), squares(w) - squares(found.core), 1e-9 * squares(w));
}

TEST(Tucker2, AlternatingIsNoWorseThanTruncating) {
  const at::Tensor w = weight({12, 10, 3, 3});
  const at::Tensor in = leading_vectors(unfold(w, 1), 4), out = leading_vectors(unfold(w, 0), 4);
  const double truncated = squares(at::einsum("tshw,si,to->oihw", {w, in, out}));
  EXPECT_GT(squares(tucker2(w, 4, 4).core), truncated);
}

// Each side's vectors are the leading ones of what the other leaves, again and again. Once is 11 %
// less here.
TEST(Tucker2, AlternatingGoesOnUntilHardlyAnythingChanges) {
  const at::Tensor w = weight({12, 10, 3, 3});
  at::Tensor in = leading_vectors(unfold(w, 1), 2), out;
  for (int sweep = 0; sweep < 60; ++sweep) {
    out = leading_vectors(unfold(at::einsum("tshw,si->tihw", {w, in}), 0), 2);
    in = leading_vectors(unfold(at::einsum("tshw,to->oshw", {w, out}), 1), 2);
  }
  const double most = squares(at::einsum("tshw,si,to->oihw", {w, in, out}));
  EXPECT_GT(squares(tucker2(w, 2, 2).core), 0.999 * most);
}

TEST(Svd, WhatIsLostAreTheSingularValuesLeftOut) {
  const at::Tensor w = weight({20, 15});
  const Factorisation found = factorise(w, {Decomposition::kSvd, {6}});
  const double left_out = squares(singular_values(w).slice(0, 6));
  EXPECT_NEAR(found.relative_error, std::sqrt(left_out / squares(w)), 1e-9);
}

TEST(Svd, FormsOfOneWeightShareWhatIsComputedAndDifferInNothing) {
  for (const at::Tensor& w : {weight({20, 15}), weight({15, 20}), weight({8, 9, 1, 1})}) {
    SharedVectors shared;
    for (const std::int64_t rank : {3, 8, 1}) {
      const LayerForm form = {Decomposition::kSvd, {rank}};
      const Factorisation one = factorise(w, form, shared), other = factorise(w, form);
      ASSERT_TRUE(shared.svd);
      for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_TRUE(at::equal(one.factored.factors[i].tensor, other.factored.factors[i].tensor));
      }
    }
  }
}

TEST(Svd, IsTheBestThereIsDownToSmallErrorsAndExactAtFullRank) {
  // Squared they differ by 1e24, which no Gram matrix in double could tell apart.
  const at::Tensor u = std::get<0>(at::linalg_qr(weight({30, 20})));
  const at::Tensor v = std::get<0>(at::linalg_qr(weight({25, 20})));
  const at::Tensor values = at::pow(10.0, -at::arange(20, at::kDouble) * 12 / 19);
  const at::Tensor w = (u * values).matmul(v.t());
  EXPECT_LT(factorise(w, {Decomposition::kSvd, {25}}).relative_error, 1e-14);
  for (const std::int64_t rank : {5, 10}) {
    const double best = std::sqrt(squares(values.slice(0, rank)) / squares(values));
    const double error = factorise(w, {Decomposition::kSvd, {rank}}).relative_error;
    EXPECT_LT(error, 1.0001 * best) << rank;
  }
}

struct Case {
  LayerForm form;
  std::vector<std::int64_t> sizes;
};

TEST(Factorise, AtFullRankTheWeightIsReproduced) {
  const std::vector<Case> cases = {{{Decomposition::kSvd, {15}}, {20, 15}},
                                   {{Decomposition::kSvd, {8}}, {8, 9, 1, 1}},
                                   {{Decomposition::kTucker2, {7, 6}}, {6, 7, 3, 2}},
                                   {{Decomposition::kCp3, {12}}, {4, 3, 2, 2}},
                                   {{Decomposition::kCp4, {12}}, {4, 3, 2, 2}}};
  for (const Case& c : cases) {
    const double error = factorise(weight(c.sizes), c.form).relative_error;
    const bool is_cp = c.form.method == Decomposition::kCp3 || c.form.method == Decomposition::kCp4;
    // Alternating comes as close as it is told to, and not to rounding.
    EXPECT_LT(error, is_cp ? 1e-2 : 1e-9) << to_string(c.form);
  }
}

TEST(Factorise, ParametersAreCountedAsTheyAre) {
  const std::vector<Case> cases = {{{Decomposition::kSvd, {3}}, {20, 15}},
                                   {{Decomposition::kTucker2, {3, 4}}, {6, 7, 3, 3}},
                                   {{Decomposition::kCp3, {5}}, {6, 7, 3, 3}},
                                   {{Decomposition::kCp4, {5}}, {6, 7, 3, 3}}};
  const std::vector<std::int64_t> expected = {3 * 35, 7 * 3 + 3 * 4 * 9 + 4 * 6, 5 * (6 + 7 + 9),
                                              5 * (6 + 7 + 3 + 3)};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::int64_t count = 0;
    const Factorisation found = factorise(weight(cases[i].sizes), cases[i].form);
    for (const Factor& factor : found.factored.factors) count += factor.tensor.numel();
    EXPECT_EQ(count, expected[i]);
    EXPECT_EQ(count_parameters(cases[i].form, cases[i].sizes), expected[i]);
  }
}

std::string refusal(const at::Tensor& w, const LayerForm& form) {
  try {
    static_cast<void>(factorise(w, form));
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "none";
}

TEST(Factorise, WhatCannotBeIsRefusedWithTheNearestThatCan) {
  using ::testing::HasSubstr;
  const at::Tensor linear = weight({20, 15}), conv = weight({6, 7, 3, 3});
  EXPECT_THAT(refusal(linear, {Decomposition::kSvd, {0}}), HasSubstr("the nearest is 1"));
  EXPECT_THAT(refusal(linear, {Decomposition::kSvd, {16}}), HasSubstr("the nearest is 15"));
  EXPECT_THAT(refusal(conv, {Decomposition::kTucker2, {3, 7}}), HasSubstr("the nearest is 6"));
  EXPECT_THAT(refusal(conv, {Decomposition::kCp3, {1000}}), HasSubstr("the nearest is 42"));
  EXPECT_THAT(refusal(conv, {Decomposition::kSvd, {3}}), HasSubstr("use tucker2 or cp3"));
  EXPECT_THAT(refusal(linear, {Decomposition::kCp4, {3}}), HasSubstr("use svd"));
  EXPECT_THAT(refusal(conv, {Decomposition::kTucker2, {3}}), HasSubstr("has 2 ranks, not 1"));
  EXPECT_THAT(refusal(at::zeros({4, 4}), {Decomposition::kSvd, {2}}), HasSubstr("all zeros"));
  EXPECT_THAT(refusal(at::zeros({4, 0}), {Decomposition::kSvd, {1}}), HasSubstr("no elements"));
  EXPECT_THAT(refusal(at::ones({4, 4, 4}), {Decomposition::kCp3, {1}}),
              HasSubstr("has 2 dimensions, or 4 of a convolution, not 3"));
  at::Tensor broken = linear.clone();
  broken[3][4] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refusal(broken, {Decomposition::kSvd, {2}}), HasSubstr("not finite"));
}

}  // namespace
}  // namespace lowtide::decompose
