// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "decompose/widen.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "lowtide/errors.h"

namespace lowtide::decompose {
namespace {

const bool kHasOneThread = (at::set_num_threads(1), true);

at::Tensor weight(at::IntArrayRef sizes) {
  torch::manual_seed(1);
  return at::randn(sizes, at::kDouble);
}

// As a few steps of training leave them.
Factored trained(const at::Tensor& weight, const LayerForm& form) {
  Factored found = factorise(weight, form).factored;
  for (Factor& factor : found.factors) factor.tensor += 0.1 * at::randn_like(factor.tensor);
  return found;
}

double error_of(const Factored& factored, const at::Tensor& weight) {
  return (reconstruct(factored, weight.sizes()) - weight).norm().item<double>();
}

struct Case {
  std::vector<std::int64_t> sizes;
  LayerForm narrow, wide;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {{12, 20}, {Decomposition::kSvd, {3}}, {Decomposition::kSvd, {5}}},
      {{12, 20, 1, 1}, {Decomposition::kSvd, {3}}, {Decomposition::kSvd, {5}}},
      {{12, 10, 3, 3}, {Decomposition::kTucker2, {3, 4}}, {Decomposition::kTucker2, {5, 7}}},
      {{12, 10, 3, 3}, {Decomposition::kTucker2, {3, 4}}, {Decomposition::kTucker2, {3, 6}}},
      {{12, 10, 3, 3}, {Decomposition::kCp3, {4}}, {Decomposition::kCp3, {6}}},
      {{12, 10, 3, 3}, {Decomposition::kCp4, {4}}, {Decomposition::kCp4, {6}}}};
  return all;
}

TEST(Widened, ComputesTheSameInTheShapesOfTheWideForm) {
  for (const Case& c : cases()) {
    const at::Tensor w = weight(c.sizes);
    const Factored narrow = trained(w, c.narrow), wide = widened(narrow, c.wide, w);
    EXPECT_EQ(wide.form, c.wide);
    const auto shapes = factor_shapes(c.wide, w.sizes());
    ASSERT_EQ(wide.factors.size(), shapes.size());
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      EXPECT_EQ(wide.factors[i].name, shapes[i].first);
      EXPECT_EQ(wide.factors[i].tensor.sizes().vec(), shapes[i].second) << to_string(c.wide);
    }
    const at::Tensor before = reconstruct(narrow, w.sizes());
    EXPECT_TRUE(at::allclose(reconstruct(wide, w.sizes()), before, 1e-12, 1e-12))
        << to_string(c.wide);
  }
}

// What the narrow factors cannot come closer to than their best, the wide ones do, and soon.
TEST(Widened, TrainingMovesTheNewTermsTowardsWhatWasLacking) {
  for (const Case& c : cases()) {
    const at::Tensor w = weight(c.sizes);
    const Factored best = factorise(w, c.narrow).factored;
    Factored wide = widened(best, c.wide, w);
    std::vector<at::Tensor> parameters;
    for (Factor& factor : wide.factors) {
      factor.tensor.requires_grad_(true);
      parameters.push_back(factor.tensor);
    }
    torch::optim::Adam adam(parameters, torch::optim::AdamOptions(0.05));
    for (int i = 0; i < 60; ++i) {
      adam.zero_grad();
      (reconstruct(wide, w.sizes()) - w).square().sum().backward();
      adam.step();
    }
    EXPECT_LT(error_of(wide, w), 0.97 * error_of(best, w)) << to_string(c.wide);
  }
}

TEST(Widened, WhatLacksNothingHasNewTermsAllTheSame) {
  const at::Tensor w = weight({6, 2}).matmul(weight({2, 8}));
  const LayerForm wide = {Decomposition::kSvd, {4}};
  const Factored found = widened(factorise(w, {Decomposition::kSvd, {2}}).factored, wide, w);
  EXPECT_LT(error_of(found, w), 1e-9);
  EXPECT_GT(found.factors[0].tensor.slice(0, 2).abs().max().item<double>(), 0);
}

TEST(Widened, AnotherMethodAndLowerOrImpossibleRanksAreRefused) {
  const at::Tensor w = weight({12, 10, 3, 3});
  const Factored narrow = factorise(w, {Decomposition::kTucker2, {3, 4}}).factored;
  for (const LayerForm& form :
       {LayerForm{Decomposition::kCp3, {6}}, LayerForm{Decomposition::kTucker2, {2, 5}},
        LayerForm{Decomposition::kTucker2, {5, 13}}}) {
    EXPECT_THROW(static_cast<void>(widened(narrow, form, w)), InvalidInput) << to_string(form);
  }
}

}  // namespace
}  // namespace lowtide::decompose
