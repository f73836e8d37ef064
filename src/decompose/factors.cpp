// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "decompose/factors.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include <ATen/ATen.h>

#include "base/check.h"
#include "decompose/linear_algebra.h"
#include "decompose/tucker.h"

namespace lowtide::decompose {
namespace {

// From here on terms of CP cancel each other so far that training them is hopeless.
constexpr double kDegenerate = 1000;

using Shapes = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

void require_rank(std::int64_t rank, std::int64_t most, const char* what) {
  LT_REQUIRE(rank >= 1 && rank <= most, "a rank of ", rank, " is not possible for ", what,
             "; it can be from 1 to ", most, "; the nearest is ",
             std::clamp<std::int64_t>(rank, 1, most));
}

// Beyond it no further term could help.
std::int64_t most_cp_rank(at::IntArrayRef sizes) {
  const std::int64_t all = sizes[0] * sizes[1] * sizes[2] * sizes[3];
  return all / std::max({sizes[0], sizes[1], sizes[2] * sizes[3]});
}

void require_form(const LayerForm& form, at::IntArrayRef sizes) {
  require_weight_sizes(sizes);
  const bool is_linear = sizes.size() == 2;
  const bool is_pointwise = !is_linear && sizes[2] == 1 && sizes[3] == 1;
  const std::size_t ranks = form.method == Decomposition::kTucker2 ? 2 : 1;
  LT_REQUIRE(form.method != Decomposition::kDense, "a dense layer has no factors");
  LT_REQUIRE(form.ranks.size() == ranks, to_string(form.method), " has ", ranks, " rank",
             ranks == 1 ? "" : "s", ", not ", form.ranks.size());
  if (form.method == Decomposition::kSvd) {
    LT_REQUIRE(is_linear || is_pointwise, "svd is for linear and 1x1 layers, and this kernel is ",
               sizes[2], "x", sizes[3], "; use tucker2 or cp3");
    require_rank(form.ranks[0], std::min(sizes[0], sizes[1]), "svd");
    return;
  }
  LT_REQUIRE(!is_linear, to_string(form.method),
             " is for convolutions; use svd for a linear layer");
  if (form.method == Decomposition::kTucker2) {
    require_rank(form.ranks[0], sizes[1], "tucker2's inputs");
    require_rank(form.ranks[1], sizes[0], "tucker2's outputs");
    return;
  }
  require_rank(form.ranks[0], most_cp_rank(sizes), "cp");
}

at::Tensor as(const at::Tensor& factor, const std::vector<std::int64_t>& shape) {
  return factor.reshape(shape);
}

Cp cp_of(const at::Tensor& weight, const LayerForm& form, int sweeps) {
  const bool is_merged = form.method == Decomposition::kCp3;
  Cp result = cp(is_merged ? weight.flatten(2) : weight, form.ranks[0], sweeps);
  LT_REQUIRE(result.degeneracy < kDegenerate, "cp is degenerate at rank ", form.ranks[0],
             ": its terms are ", result.degeneracy,
             " times as large as their sum; use another rank, such as ",
             std::max<std::int64_t>(form.ranks[0] / 2, 1), ", or tucker2");
  return result;
}

// The weight's projection onto the leading vectors of its smaller side, as the two factors. A Gram
// matrix knows nothing of singular values below 1e-8 of the largest, but its vectors are
// orthonormal to rounding. So nothing is lost at full rank, and down to such errors no more than by
// the best approximation. The scale that the factors share comes from the projection itself.
std::vector<at::Tensor> svd_factors(const at::Tensor& matrix, std::int64_t rank,
                                    SharedVectors& shared) {
  const auto& [values, all_vectors, are_of_rows] = singular_vectors(matrix, shared);
  const at::Tensor vectors = all_vectors.slice(1, 0, rank).to(matrix.device());
  // Columns: one for each of the vectors.
  const at::Tensor projection = (are_of_rows ? matrix.t() : matrix).matmul(vectors);
  const at::Tensor root = projection.square().sum(0).sqrt().sqrt();
  const at::Tensor scaled = projection / root.clamp_min(1e-150), own = vectors * root;
  return are_of_rows ? std::vector<at::Tensor>{scaled.t(), own}
                     : std::vector<at::Tensor>{own.t(), scaled};
}

// The factors as doubles, in the order of their shapes, whatever their layout.
std::vector<at::Tensor> factors_of(const at::Tensor& weight, const LayerForm& form,
                                   double& degeneracy, SharedVectors& shared, int cp_sweeps) {
  if (form.method == Decomposition::kSvd) {
    return svd_factors(weight.flatten(1), form.ranks[0], shared);
  }
  if (form.method == Decomposition::kTucker2) {
    const Tucker2 found = tucker2(weight, form.ranks[0], form.ranks[1]);
    return {found.inputs.t(), found.core, found.outputs};
  }
  const Cp found = cp_of(weight, form, cp_sweeps);
  degeneracy = found.degeneracy;
  std::vector<at::Tensor> result = {found.factors[1].t()};
  for (std::size_t i = 2; i < found.factors.size(); ++i) result.push_back(found.factors[i].t());
  result.push_back(found.factors[0]);
  return result;
}

// outputs x rank, rank x inputs, as matrices.
at::Tensor product(const at::Tensor& outputs, const at::Tensor& inputs) {
  return outputs.flatten(1).matmul(inputs.flatten(1));
}

}  // namespace

void require_weight_sizes(at::IntArrayRef sizes) {
  LT_REQUIRE(sizes.size() == 2 || sizes.size() == 4,
             "a weight that is decomposed has 2 dimensions, or 4 of a convolution, not ",
             sizes.size());
  for (const std::int64_t size : sizes) {
    LT_REQUIRE(size > 0, "the weight has no elements, so there is nothing to decompose");
  }
}

Shapes factor_shapes(const LayerForm& form, at::IntArrayRef sizes) {
  require_form(form, sizes);
  const std::int64_t rank = form.ranks[0];
  if (sizes.size() == 2) return {{"weight_in", {rank, sizes[1]}}, {"weight_out", {sizes[0], rank}}};
  const std::int64_t height = sizes[2], width = sizes[3];
  const std::pair<std::string, std::vector<std::int64_t>> in = {"weight_in",
                                                                {rank, sizes[1], 1, 1}};
  switch (form.method) {
    case Decomposition::kSvd:
      return {in, {"weight_out", {sizes[0], rank, 1, 1}}};
    case Decomposition::kTucker2:
      return {in,
              {"weight_core", {form.ranks[1], rank, height, width}},
              {"weight_out", {sizes[0], form.ranks[1], 1, 1}}};
    case Decomposition::kCp3:
      return {
          in, {"weight_space", {rank, 1, height, width}}, {"weight_out", {sizes[0], rank, 1, 1}}};
    default:
      return {in,
              {"weight_column", {rank, 1, height, 1}},
              {"weight_row", {rank, 1, 1, width}},
              {"weight_out", {sizes[0], rank, 1, 1}}};
  }
}

std::optional<LayerForm> form_with(const std::map<std::string, std::vector<std::int64_t>>& shapes,
                                   at::IntArrayRef weight_sizes) {
  const auto first = [&](const char* name) {
    const auto found = shapes.find(name);
    return found == shapes.end() || found->second.empty() ? 0 : found->second[0];
  };
  const std::vector<std::int64_t> one = {first("weight_in")};
  const std::vector<std::int64_t> two = {one[0], first("weight_core")};
  for (const LayerForm& form :
       {LayerForm{Decomposition::kSvd, one}, LayerForm{Decomposition::kTucker2, two},
        LayerForm{Decomposition::kCp3, one}, LayerForm{Decomposition::kCp4, one}}) {
    try {
      const Shapes own = factor_shapes(form, weight_sizes);
      if (std::map(own.begin(), own.end()) == shapes) return form;
    } catch (const InvalidInput&) {
      // One that such a weight cannot have.
    }
  }
  return std::nullopt;
}

std::int64_t count_parameters(const LayerForm& form, at::IntArrayRef weight_sizes) {
  if (form.method == Decomposition::kDense) return c10::multiply_integers(weight_sizes);
  std::int64_t count = 0;
  for (const auto& [name, shape] : factor_shapes(form, weight_sizes)) {
    count += c10::multiply_integers(shape);
  }
  return count;
}

Factorisation factorise(const at::Tensor& weight, const LayerForm& form) {
  SharedVectors shared;
  return factorise(weight, form, shared);
}

Factorisation factorise(const at::Tensor& weight, const LayerForm& form, SharedVectors& shared,
                        int cp_sweeps) {
  const at::NoGradGuard no_grad;
  const Shapes shapes = factor_shapes(form, weight.sizes());
  const at::Tensor exact = weight.detach().to(at::kDouble).contiguous();
  LT_REQUIRE(at::isfinite(exact).all().item<bool>(),
             "the weight has values that are not finite, so there is nothing to decompose; go back "
             "to a checkpoint from before");
  const double norm = exact.norm().item<double>();
  LT_REQUIRE(norm > 0, "the weight is all zeros, so there is nothing to decompose; train it first");
  Factorisation result;
  result.factored.form = form;
  const std::vector<at::Tensor> factors =
      factors_of(exact, form, result.degeneracy, shared, cp_sweeps);
  LT_CHECK(factors.size() == shapes.size(), "factors: ", factors.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const at::Tensor shaped = as(factors[i], shapes[i].second);
    result.factored.factors.push_back(
        {shapes[i].first, shaped.to(weight.scalar_type()).contiguous().clone()});
  }
  const at::Tensor again = reconstruct(result.factored, weight.sizes()).to(at::kDouble);
  result.relative_error = (exact - again).norm().item<double>() / norm;
  return result;
}

at::Tensor reconstruct(const Factored& factored, at::IntArrayRef weight_sizes) {
  const std::vector<Factor>& f = factored.factors;
  const at::Tensor& in = f.front().tensor;
  const at::Tensor& out = f.back().tensor;
  switch (factored.form.method) {
    case Decomposition::kDense:
      return in;
    case Decomposition::kSvd:
      return product(out, in).view(weight_sizes);
    case Decomposition::kTucker2: {
      // outputs, rank, height, width; then the inputs take the rank's place.
      const at::Tensor wide =
          product(out, f[1].tensor).view({weight_sizes[0], -1, weight_sizes[2] * weight_sizes[3]});
      return at::matmul(in.flatten(1).t(), wide).view(weight_sizes);
    }
    default: {
      at::Tensor space = f[1].tensor;
      if (f.size() == 4) space = space * f[2].tensor;
      // rank, inputs, height, width.
      return product(out, in * space).view(weight_sizes);
    }
  }
}

}  // namespace lowtide::decompose
