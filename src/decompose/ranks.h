// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "decompose/linear_algebra.h"
#include "lowtide/decompose.h"

// Which ranks a weight should have. Pure functions.

namespace lowtide::decompose {

// What a rank is chosen from: the singular values of the weight's unfoldings, largest first.
struct Spectrum {
  // Of the weight.
  std::vector<std::int64_t> sizes{};
  // Of the matrix with a row for each input, and of that with a row for each output; for linear and
  // 1x1 layers they are the same.
  std::vector<double> inputs{}, outputs{};
};

// Throws InvalidInput for a weight that is not finite or all zeros.
Spectrum spectrum_of(const at::Tensor& weight);
// The same, for a weight that is then decomposed.
Spectrum spectrum_of(const at::Tensor& weight, SharedVectors& shared);

// The number of singular values that are above noise, by the empirical variational Bayes of
// Nakajima et al. (JMLR 14, 2013) for a matrix of rows x columns. `values`: its singular values,
// largest first. 0: all is noise.
std::int64_t evbmf_rank(const std::vector<double>& values, std::int64_t rows, std::int64_t columns);

// The smallest rank, but at least 1, that leaves no more than this share of the squares out.
std::int64_t energy_rank(const std::vector<double>& values, double share_left_out);

// Up to the next multiple of 8, where matrix units work best, unless that is small or beyond the
// limit.
std::int64_t rounded_rank(std::int64_t rank, std::int64_t limit);

// The forms of this method by each rule, with ranks rounded. They may have more parameters than the
// dense weight: is_smaller() tells.
LayerForm evbmf_form(const Spectrum& spectrum, Decomposition method);
LayerForm energy_form(const Spectrum& spectrum, Decomposition method, double share_left_out);
// With no more than this share of the dense parameters; the least ranks if there are none so few.
LayerForm compressed_form(const Spectrum& spectrum, Decomposition method, double share);

bool is_smaller(const LayerForm& form, const Spectrum& spectrum);

// The largest rank, the same on both sides for Tucker-2, with which such a weight has fewer
// parameters than the dense one; 0: there is none.
std::int64_t largest_useful_rank(const std::vector<std::int64_t>& weight_sizes,
                                 Decomposition method);

// With ranks half as large again, rounded. The ranks may be beyond what the weight can have.
LayerForm raised_form(LayerForm form, const Spectrum& spectrum);

// A layer of a model whose layers get their ranks together.
struct WeightedSpectrum {
  Spectrum spectrum;
  Decomposition method = Decomposition::kSvd;
  // How much the loss rises for the same share left out, in any unit: twice as sensitive, half the
  // share.
  double sensitivity = 1;
};

// One level for all layers, found by bisection so that their parameters together are no more than
// `most_parameters`: the share that a layer leaves out is the level over its sensitivity. A layer
// whose form would not be smaller stays dense. Throws InvalidInput, with the least that is
// possible, if that is too few.
std::vector<LayerForm> forms_within(const std::vector<WeightedSpectrum>& layers,
                                    std::int64_t most_parameters);

}  // namespace lowtide::decompose
