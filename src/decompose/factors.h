// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "decompose/cp.h"
#include "decompose/linear_algebra.h"
#include "lowtide/decompose.h"

// A weight and its factors. Pure functions, on the device of the weight; all arithmetic is in
// double, and what comes out has the weight's type.

namespace lowtide::decompose {

// A factor as it is a parameter of its layer.
struct Factor {
  // "weight_in"
  std::string name;
  at::Tensor tensor;
};

struct Factored {
  LayerForm form;
  // In the order in which the layer applies them. Weights of convolutions where the weight is one
  // (4 dimensions), else matrices.
  std::vector<Factor> factors;
};

struct Factorisation {
  Factored factored;
  // Norm of the difference over norm of the weight.
  double relative_error = 0;
  // CP only: the squares of the norms of all terms over that of their sum.
  double degeneracy = 1;
};

// Throws InvalidInput for a weight that is neither a matrix nor a kernel, or has no elements.
void require_weight_sizes(at::IntArrayRef sizes);

// The names and shapes of a form's factors for a weight of these sizes. Throws InvalidInput for a
// form that such a weight cannot have, naming ranks that it can.
std::vector<std::pair<std::string, std::vector<std::int64_t>>> factor_shapes(
    const LayerForm& form, at::IntArrayRef weight_sizes);

// The form that has factors of these names and sizes for such a weight, whether reconstructed or
// not; nothing if there is none.
std::optional<LayerForm> form_with(const std::map<std::string, std::vector<std::int64_t>>& shapes,
                                   at::IntArrayRef weight_sizes);

// The number of parameters that the form has.
std::int64_t count_parameters(const LayerForm& form, at::IntArrayRef weight_sizes);

// Throws InvalidInput as factor_shapes does, if the weight has values that are not finite or is
// all zeros, and if its terms cancel each other (CP: degenerate).
Factorisation factorise(const at::Tensor& weight, const LayerForm& form, SharedVectors& shared,
                        int cp_sweeps = kMostSweeps);
Factorisation factorise(const at::Tensor& weight, const LayerForm& form);

// The weight that the factors stand for; differentiable. Dense: the one factor is the weight.
at::Tensor reconstruct(const Factored& factored, at::IntArrayRef weight_sizes);

}  // namespace lowtide::decompose
