// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT

// ONNX's operators that cut, sum up and fill tensors, as torch's functions for the same.

#include <algorithm>
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

Values flatten(const OnnxCall& call) {
  const Tensor input = call.tensor(0);
  const std::int64_t axis = call.integer("axis", 1);
  LT_REQUIRE(axis >= -input.dim() && axis <= input.dim(), "Flatten has the axis ", axis);
  const std::int64_t first = axis < 0 ? axis + input.dim() : axis;
  std::int64_t rows = 1;
  for (std::int64_t i = 0; i < first; ++i) rows *= input.size(i);
  return one(input.reshape({rows, input.numel() / std::max<std::int64_t>(rows, 1)}));
}

Values split(const OnnxCall& call) {
  const Tensor input = call.tensor(0);
  const std::size_t axis =
      static_cast<std::size_t>(at::maybe_wrap_dim(call.integer("axis", 0), input.dim()));
  const auto parts = static_cast<std::int64_t>(call.node.outputs.size());
  LT_REQUIRE(parts > 0, "Split gives nothing");
  const std::int64_t size = input.size(static_cast<std::int64_t>(axis));
  Integers sizes = call.integers("split", 1).value_or(Integers());
  const std::int64_t each = (size + parts - 1) / parts;
  for (std::int64_t at = 0; sizes.size() < static_cast<std::size_t>(parts); at += each) {
    sizes.push_back(std::max<std::int64_t>(0, std::min(each, size - at)));
  }
  Values results;
  for (const Tensor& part : input.split_with_sizes(sizes, static_cast<std::int64_t>(axis))) {
    results.push_back({.tensor = part});
  }
  return results;
}

// Of known numbers, which have one axis at most.
std::int64_t reduced(const std::string& op, const Integers& all) {
  std::int64_t result = op == "ReduceProd" ? 1 : 0;
  if (op == "ReduceMax") return *std::max_element(all.begin(), all.end());
  if (op == "ReduceMin") return *std::min_element(all.begin(), all.end());
  for (const std::int64_t number : all) {
    result = op == "ReduceProd" ? product_of(result, number) : sum_of(result, number);
  }
  return result;
}

Tensor product_over(Tensor tensor, Integers axes, bool keeps) {
  for (std::int64_t& axis : axes) axis = at::maybe_wrap_dim(axis, tensor.dim());
  std::sort(axes.rbegin(), axes.rend());
  for (const std::int64_t axis : axes) tensor = at::prod(tensor, axis, keeps);
  return tensor;
}

Values reduce(const OnnxCall& call) {
  const std::string& op = call.node.op;
  const bool keeps = call.integer("keepdims", 1) != 0;
  const bool is_whole =
      op == "ReduceProd" || op == "ReduceMax" || op == "ReduceMin" || op == "ReduceSum";
  if (is_whole && has_numbers(call) && !call.integers(0).empty()) {
    return numbers({reduced(op, call.integers(0))}, !keeps);
  }
  const Tensor input = call.tensor(0);
  const std::optional<Integers> axes = call.integers("axes", 1);
  Integers all;
  for (std::int64_t i = 0; i < input.dim(); ++i) all.push_back(i);
  const Integers over = axes.value_or(all);
  if (op == "ReduceMean") return one(at::mean(input, over, keeps));
  if (op == "ReduceMax") return one(at::amax(input, over, keeps));
  if (op == "ReduceMin") return one(at::amin(input, over, keeps));
  if (op == "ReduceProd" && input.requires_grad()) {
    throw OnnxUnknown("the op 'ReduceProd' looks at its numbers for the backward pass");
  }
  if (op == "ReduceProd") return one(product_over(input, over, keeps));
  if (op == "ReduceL2") return one(at::linalg_vector_norm(input, 2, over, keeps));
  if (op == "ReduceL1") return one(at::linalg_vector_norm(input, 1, over, keeps));
  if (op == "ReduceSumSquare") return one(at::sum(at::mul(input, input), over, keeps));
  if (op == "ReduceLogSum") return one(at::log(at::sum(input, over, keeps)));
  if (op == "ReduceLogSumExp") return one(at::logsumexp(input, over, keeps));
  return one(at::sum(input, over, keeps));
}

Values tile(const OnnxCall& call) {
  const Integers times = call.integers(1);
  for (const std::int64_t number : times) require_offset(call, number);
  return one(call.tensor(0).repeat(times));
}

// Which of its sides is zero does not matter to memory.
Values triangle(const OnnxCall& call) { return one(at::tril(call.tensor(0))); }

Values einsum(const OnnxCall& call) {
  const OnnxAttribute* equation = call.attribute("equation");
  LT_REQUIRE(equation != nullptr, "Einsum has no equation");
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) tensors.push_back(call.tensor(i));
  return one(at::einsum(equation->text, tensors));
}

// What ops fill with random numbers, of a shape or as large as what they read.
Values random_numbers(const OnnxCall& call) {
  if (const OnnxAttribute* sizes = call.attribute("shape")) {
    const auto type = static_cast<std::int32_t>(call.integer("dtype", 1));
    return one(at::empty(sizes->integers, scalar_type_of(type)));
  }
  const Tensor like = call.tensor(0);
  const OnnxAttribute* type = call.attribute("dtype");
  return one(at::empty(like.sizes(),
                       type == nullptr ? like.scalar_type()
                                       : scalar_type_of(static_cast<std::int32_t>(type->integer))));
}

Values pad(const OnnxCall& call) {
  const Tensor input = call.tensor(0);
  const Integers pads = call.integers("pads", 1).value_or(Integers());
  const auto axes = static_cast<std::size_t>(input.dim());
  if (call.has(3)) throw OnnxUnknown("Pad of some axes only is not known");
  LT_REQUIRE(pads.size() == 2 * axes, "Pad has pads for other axes than its input's");
  for (const std::int64_t pad : pads) require_offset(call, pad);
  Integers outer;
  for (std::size_t i = axes; i-- > 0;) outer.insert(outer.end(), {pads[i], pads[i + axes]});
  return one(at::constant_pad_nd(input, outer));
}

}  // namespace

void add_tensor_ops(std::vector<std::pair<std::string, OnnxOp>>& ops) {
  static const OnnxOp cumulate = [](const OnnxCall& call) {
    return one(at::cumsum(call.tensor(0), one_integer(call, 1)));
  };
  for (const char* name :
       {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
        "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"}) {
    ops.emplace_back(name, reduce);
  }
  for (const char* name : {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike",
                           "Bernoulli", "EyeLike"}) {
    ops.emplace_back(name, random_numbers);
  }
  ops.insert(ops.end(), {{"Flatten", flatten},
                         {"Split", split},
                         {"Pad", pad},
                         {"Tile", tile},
                         {"Trilu", triangle},
                         {"CumSum", cumulate},
                         {"Einsum", einsum}});
}

}  // namespace lowtide::estimate
