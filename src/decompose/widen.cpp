// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "decompose/widen.h"

#include <algorithm>
#include <utility>

#include <ATen/ATen.h>

#include "base/check.h"

namespace lowtide::decompose {
namespace {

// By how much each rank grows; at least 1, since no form has fewer.
LayerForm growth(const LayerForm& narrow, const LayerForm& wide) {
  LT_REQUIRE(narrow.method == wide.method && narrow.ranks.size() == wide.ranks.size(), "from ",
             to_string(narrow), " to ", to_string(wide), " nothing can be kept");
  LayerForm result = {wide.method, wide.ranks};
  for (std::size_t i = 0; i < wide.ranks.size(); ++i) {
    LT_REQUIRE(wide.ranks[i] >= narrow.ranks[i], "ranks are raised here and not lowered: from ",
               to_string(narrow), " to ", to_string(wide));
    result.ranks[i] = std::max<std::int64_t>(wide.ranks[i] - narrow.ranks[i], 1);
  }
  return result;
}

// The first of the terms, as many as there is room for in the dimension.
at::Tensor with_more(const at::Tensor& factor, const at::Tensor& more, std::int64_t dimension,
                     std::int64_t size) {
  const at::Tensor whole = at::cat({factor, more}, dimension);
  return whole.narrow(dimension, 0, size).contiguous();
}

// In the corner of zeros.
at::Tensor padded(const at::Tensor& factor, at::IntArrayRef sizes) {
  at::Tensor result = at::zeros(sizes, factor.options());
  at::Tensor corner = result;
  for (std::int64_t i = 0; i < factor.dim(); ++i) corner = corner.narrow(i, 0, factor.size(i));
  corner.copy_(factor);
  return result;
}

}  // namespace

Factored widened(const Factored& narrow, const LayerForm& form, const at::Tensor& weight,
                 int cp_sweeps) {
  const at::NoGradGuard no_grad;
  const auto shapes = factor_shapes(form, weight.sizes());
  const LayerForm more_form = growth(narrow.form, form);
  const at::Tensor lacking = weight.detach() - reconstruct(narrow, weight.sizes());
  SharedVectors shared;
  // Where nothing is lacking, any direction is as good.
  const Factored more =
      factorise(lacking.any().item<bool>() ? lacking : weight, more_form, shared, cp_sweeps)
          .factored;
  // The one that is zero in the new terms: Tucker-2's core, else the last.
  const std::size_t zero = form.method == Decomposition::kTucker2 ? 1 : shapes.size() - 1;
  Factored result = {.form = form, .factors = {}};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto& [name, sizes] = shapes[i];
    const at::Tensor own = narrow.factors[i].tensor.detach();
    const bool is_last = i + 1 == shapes.size();
    const std::int64_t dimension = is_last ? 1 : 0;
    at::Tensor wide = i == zero ? padded(own, sizes)
                                : with_more(own, more.factors[i].tensor.to(own.options()),
                                            dimension, sizes[static_cast<std::size_t>(dimension)]);
    result.factors.push_back({name, std::move(wide)});
  }
  return result;
}

}  // namespace lowtide::decompose
