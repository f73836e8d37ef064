// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT

// ONNX's operators that read and write at places that are told, as torch's functions for the same.

#include <utility>

#include <ATen/ATen.h>
#include <ATen/WrapDimUtils.h>

#include "base/check.h"
#include "estimate/torch/onnx_call.h"

namespace lowtide::estimate {
namespace {

using at::Tensor;
using Integers = std::vector<std::int64_t>;
using Values = std::vector<OnnxValue>;

// One tensor for each axis that a row of the last axis has a place on.
c10::List<std::optional<Tensor>> places_of(const Tensor& indices) {
  LT_REQUIRE(indices.dim() > 0, "places without an axis");
  c10::List<std::optional<Tensor>> places;
  for (const Tensor& place : indices.to(at::kLong).unbind(-1)) places.push_back(place);
  return places;
}

Values gather(const OnnxCall& call) {
  if (has_numbers(call)) {
    const Integers all = call.integers(0);
    Integers picked;
    for (std::int64_t i : call.integers(1)) {
      if (i < 0) i += static_cast<std::int64_t>(all.size());
      LT_REQUIRE(i >= 0 && i < static_cast<std::int64_t>(all.size()), "Gather reads past the end");
      picked.push_back(all[static_cast<std::size_t>(i)]);
    }
    return numbers(std::move(picked), call.inputs[1].is_scalar);
  }
  const Tensor input = call.tensor(0), indices = call.tensor(1);
  const auto axis =
      static_cast<std::size_t>(at::maybe_wrap_dim(call.integer("axis", 0), input.dim()));
  if (axis == 0 && input.dim() == 2) return one(at::embedding(input, indices.to(at::kLong)));
  Integers sizes = input.sizes().vec();
  sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(axis));
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(axis), indices.sizes().begin(),
               indices.sizes().end());
  const Tensor rows =
      at::index_select(input, static_cast<std::int64_t>(axis), indices.reshape({-1}).to(at::kLong));
  return one(rows.reshape(sizes));
}

Values gather_elements(const OnnxCall& call) {
  return one(at::gather(call.tensor(0), call.integer("axis", 0), call.tensor(1).to(at::kLong)));
}

Values gather_at(const OnnxCall& call) {
  if (call.integer("batch_dims", 0) != 0) {
    throw OnnxUnknown("the op 'GatherND' with axes of a batch is not known");
  }
  return one(at::index(call.tensor(0), places_of(call.tensor(1))));
}

bool accumulates(const OnnxCall& call) {
  const OnnxAttribute* way = call.attribute("reduction");
  return way != nullptr && way->text != "none";
}

Values scatter_at(const OnnxCall& call) {
  Tensor written = call.tensor(0).clone();
  return one(written.index_put_(places_of(call.tensor(1)), call.tensor(2), accumulates(call)));
}

Values scatter_elements(const OnnxCall& call) {
  const Tensor input = call.tensor(0), places = call.tensor(1).to(at::kLong), news = call.tensor(2);
  const std::int64_t axis = call.integer("axis", 0);
  return one(accumulates(call) ? at::scatter_add(input, axis, places, news)
                               : at::scatter(input, axis, places, news));
}

// The last of the inputs are two values: of what is not meant, and of what is.
Values one_hot(const OnnxCall& call) {
  const Tensor indices = call.tensor(0);
  const std::int64_t depth = one_integer(call, 1);
  require_offset(call, depth);
  const std::int64_t axis = at::maybe_wrap_dim(call.integer("axis", -1), indices.dim() + 1);
  Integers sizes = indices.sizes().vec();
  sizes.insert(sizes.begin() + axis, depth);
  return one(at::zeros(sizes, call.tensor(2).options())
                 .scatter_(axis, indices.to(at::kLong).unsqueeze(axis), 1));
}

Values top(const OnnxCall& call) {
  const OnnxAttribute* count = call.attribute("k");
  const auto [values, places] =
      at::topk(call.tensor(0), count == nullptr ? one_integer(call, 1) : count->integer,
               call.integer("axis", -1));
  return {{.tensor = values}, {.tensor = places}};
}

Values extreme_places(const OnnxCall& call) {
  const auto function = call.node.op == "ArgMax" ? at::argmax : at::argmin;
  return one(function(call.tensor(0), call.integer("axis", 0), call.integer("keepdims", 1) != 0));
}

}  // namespace

void add_index_ops(std::vector<std::pair<std::string, OnnxOp>>& ops) {
  ops.insert(ops.end(), {{"Gather", gather},
                         {"GatherElements", gather_elements},
                         {"GatherND", gather_at},
                         {"ScatterND", scatter_at},
                         {"ScatterElements", scatter_elements},
                         {"Scatter", scatter_elements},
                         {"OneHot", one_hot},
                         {"TopK", top},
                         {"ArgMax", extreme_places},
                         {"ArgMin", extreme_places}});
}

}  // namespace lowtide::estimate
