// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT

// ONNX's operators that move, cut and sum up numbers, as torch's functions for the same. Those that
// graphs compute shapes with work on known numbers too.

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

// An axis that lies beyond an input would be read without a check below.
std::size_t wrapped(std::int64_t axis, std::int64_t axes) {
  return static_cast<std::size_t>(at::maybe_wrap_dim(axis, axes));
}

Values constant(const OnnxCall& call) {
  if (const OnnxAttribute* value = call.attribute("value"); value && value->tensor) {
    const OnnxTensor& tensor = *value->tensor;
    if (tensor.integers) return numbers(*tensor.integers, tensor.sizes.empty());
    return {OnnxValue{.tensor = at::empty(tensor.sizes, scalar_type_of(tensor.type)),
                      .floats = tensor.floats}};
  }
  if (const OnnxAttribute* value = call.attribute("value_int"))
    return numbers({value->integer}, true);
  if (const OnnxAttribute* value = call.attribute("value_ints")) return numbers(value->integers);
  return one(at::empty({}, at::kFloat));
}

// A size of 0 is the input's, and -1 whatever is left. A file with a fixed batch has it in here.
Values reshape(const OnnxCall& call) {
  const Tensor input = call.tensor(0);
  std::optional<Integers> asked = call.integers("shape", 1);
  LT_REQUIRE(asked.has_value(), "the op Reshape '", call.node.name, "' has no shape");
  Integers sizes = *asked;
  if (has_numbers(call) && sizes.size() <= 1) return numbers(call.integers(0), sizes.empty());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    LT_REQUIRE(sizes[i] != 0 || static_cast<std::int64_t>(i) < input.dim(), "the op Reshape '",
               call.node.name, "' keeps an axis that its input lacks");
    if (sizes[i] == 0 && call.integer("allowzero", 0) == 0) {
      sizes[i] = input.size(static_cast<std::int64_t>(i));
    }
  }
  const bool has_file_batch = !sizes.empty() && sizes[0] == call.file_batch && input.dim() > 0 &&
                              input.size(0) == call.batch;
  if (has_file_batch && call.file_batch != call.batch) sizes[0] = call.batch;
  return one(input.reshape(sizes));
}

Values flatten(const OnnxCall& call) {
  const Tensor input = call.tensor(0);
  const std::int64_t axis = call.integer("axis", 1);
  LT_REQUIRE(axis >= -input.dim() && axis <= input.dim(), "Flatten has the axis ", axis);
  const std::int64_t first = axis < 0 ? axis + input.dim() : axis;
  std::int64_t rows = 1;
  for (std::int64_t i = 0; i < first; ++i) rows *= input.size(i);
  return one(input.reshape({rows, input.numel() / std::max<std::int64_t>(rows, 1)}));
}

Values transpose(const OnnxCall& call) {
  const Tensor input = call.tensor(0);
  Integers order;
  for (std::int64_t i = input.dim(); i-- > 0;) order.push_back(i);
  return one(input.permute(call.integers("perm", order)));
}

Values concat(const OnnxCall& call) {
  if (has_numbers(call)) {
    Integers all;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      const Integers part = call.integers(i);
      all.insert(all.end(), part.begin(), part.end());
    }
    return numbers(std::move(all));
  }
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) tensors.push_back(call.tensor(i));
  return one(at::cat(tensors, call.integer("axis", 1)));
}

Values split(const OnnxCall& call) {
  const Tensor input = call.tensor(0);
  const std::size_t axis = wrapped(call.integer("axis", 0), input.dim());
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

Tensor sliced(const OnnxCall& call, Tensor tensor) {
  const std::optional<Integers> starts = call.integers("starts", 1),
                                ends = call.integers("ends", 2);
  LT_REQUIRE(starts && ends && starts->size() == ends->size(), "Slice lacks its bounds");
  const std::optional<Integers> axes = call.integers("axes", 3);
  const Integers steps = call.has(4) ? call.integers(4) : Integers(starts->size(), 1);
  LT_REQUIRE((!axes || axes->size() == starts->size()) && steps.size() == starts->size(),
             "Slice has bounds for other axes than it names");
  for (std::size_t i = 0; i < starts->size(); ++i) {
    LT_REQUIRE(steps[i] != 0, "Slice has a step of 0");
    const std::int64_t axis = axes ? (*axes)[i] : static_cast<std::int64_t>(i);
    // Backwards gives as many as forwards from the other end.
    tensor = steps[i] > 0 ? tensor.slice(axis, (*starts)[i], (*ends)[i], steps[i]) : tensor.clone();
  }
  return tensor;
}

Values slice(const OnnxCall& call) {
  if (!call.inputs.empty() && call.inputs[0].integers && !call.inputs[0].tensor.defined()) {
    const Integers all = call.integers(0);
    const Integers starts = call.integers("starts", 1).value_or(Integers());
    const Integers ends = call.integers("ends", 2).value_or(Integers());
    LT_REQUIRE(starts.size() == 1 && ends.size() == 1, "Slice lacks its bounds");
    const auto size = static_cast<std::int64_t>(all.size());
    const auto place = [size](std::int64_t at) {
      const std::int64_t from_end = at < 0 && at >= -size ? at + size : at;
      return std::clamp<std::int64_t>(from_end, 0, size);
    };
    const std::int64_t first = place(starts[0]), last = std::max(first, place(ends[0]));
    return numbers(Integers(all.begin() + first, all.begin() + last));
  }
  return one(sliced(call, call.tensor(0)));
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
  const std::size_t axis = wrapped(call.integer("axis", 0), input.dim());
  if (axis == 0 && input.dim() == 2) return one(at::embedding(input, indices.to(at::kLong)));
  Integers sizes = input.sizes().vec();
  sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(axis));
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(axis), indices.sizes().begin(),
               indices.sizes().end());
  const Tensor rows =
      at::index_select(input, static_cast<std::int64_t>(axis), indices.reshape({-1}).to(at::kLong));
  return one(rows.reshape(sizes));
}

Values unsqueeze(const OnnxCall& call) {
  if (!call.inputs.empty() && call.inputs[0].integers) return numbers(call.integers(0));
  Tensor tensor = call.tensor(0);
  Integers axes = call.integers("axes", 1).value_or(Integers());
  const std::int64_t axes_after = tensor.dim() + static_cast<std::int64_t>(axes.size());
  for (std::int64_t& axis : axes) axis = static_cast<std::int64_t>(wrapped(axis, axes_after));
  std::sort(axes.begin(), axes.end());
  for (const std::int64_t axis : axes) tensor = tensor.unsqueeze(axis);
  return one(tensor);
}

Values squeeze(const OnnxCall& call) {
  if (!call.inputs.empty() && call.inputs[0].integers) {
    const Integers all = call.integers(0);
    return numbers(all, all.size() == 1);
  }
  const std::optional<Integers> axes = call.integers("axes", 1);
  return one(axes ? call.tensor(0).squeeze(*axes) : call.tensor(0).squeeze());
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
  if (op == "ReduceProd") return one(product_over(input, over, keeps));
  if (op == "ReduceL2") return one(at::linalg_vector_norm(input, 2, over, keeps));
  if (op == "ReduceLogSumExp") return one(at::logsumexp(input, over, keeps));
  return one(at::sum(input, over, keeps));
}

Values expand(const OnnxCall& call) {
  const Tensor input = call.tensor(0);
  const Integers sizes = at::infer_size(input.sizes(), call.integers(1));
  return one(input.expand(sizes));
}

// A row of a few whole numbers is known, as a shape may be made of it.
Values filled(const OnnxCall& call) {
  constexpr std::int64_t kMostNumbers = 64;
  const OnnxAttribute* value = call.attribute("value");
  const bool has_type = value != nullptr && value->tensor;
  const Integers sizes = call.integers(0);
  const bool is_short = sizes.size() <= 1 && (sizes.empty() || sizes[0] <= kMostNumbers);
  if (has_type && value->tensor->integers && is_short && (sizes.empty() || sizes[0] >= 0)) {
    LT_REQUIRE(!value->tensor->integers->empty(), "ConstantOfShape has no value");
    const auto count = static_cast<std::size_t>(sizes.empty() ? 1 : sizes[0]);
    return numbers(Integers(count, value->tensor->integers->front()), sizes.empty());
  }
  return one(
      at::empty(sizes, has_type ? scalar_type_of(value->tensor->type) : at::ScalarType::Float));
}

Values range(const OnnxCall& call) {
  const Integers start = call.integers(0), end = call.integers(1), step = call.integers(2);
  LT_REQUIRE(start.size() == 1 && end.size() == 1 && step.size() == 1 && step[0] != 0,
             "Range wants three numbers");
  const std::int64_t count =
      std::max<std::int64_t>(0, quotient_of(difference_of(end[0], start[0]), step[0]));
  return one(at::empty({count}, at::kLong));
}

// From opset 15 on of some axes.
Values shape(const OnnxCall& call) {
  const Integers sizes = call.tensor(0).sizes().vec();
  const auto axes = static_cast<std::int64_t>(sizes.size());
  const auto place = [axes](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 && at >= -axes ? at + axes : at, 0, axes);
  };
  const std::int64_t first = place(call.integer("start", 0));
  const std::int64_t last = std::max(first, place(call.integer("end", axes)));
  return numbers(Integers(sizes.begin() + first, sizes.begin() + last));
}

std::int64_t one_integer(const OnnxCall& call, std::size_t i) {
  const Integers integers = call.integers(i);
  LT_REQUIRE(integers.size() == 1, "the op ", call.node.op, " wants one number as its input ", i);
  return integers[0];
}

Values tile(const OnnxCall& call) {
  const Integers times = call.integers(1);
  for (const std::int64_t number : times) require_offset(call, number);
  return one(call.tensor(0).repeat(times));
}

Values gather_elements(const OnnxCall& call) {
  return one(at::gather(call.tensor(0), call.integer("axis", 0), call.tensor(1).to(at::kLong)));
}

// Which of its sides is zero does not matter to memory.
Values triangle(const OnnxCall& call) { return one(at::tril(call.tensor(0))); }

Values largest_places(const OnnxCall& call) {
  return one(at::argmax(call.tensor(0), call.integer("axis", 0), call.integer("keepdims", 1) != 0));
}

Values depth_to_space(const OnnxCall& call) {
  return one(at::pixel_shuffle(call.tensor(0), call.integer("blocksize", 1)));
}

Values einsum(const OnnxCall& call) {
  const OnnxAttribute* equation = call.attribute("equation");
  LT_REQUIRE(equation != nullptr, "Einsum has no equation");
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) tensors.push_back(call.tensor(i));
  return one(at::einsum(equation->text, tensors));
}

Values cast(const OnnxCall& call) {
  if (!call.inputs.empty() && call.inputs[0].integers && !call.inputs[0].tensor.defined()) {
    return {call.inputs[0]};
  }
  return one(call.tensor(0).to(scalar_type_of(static_cast<std::int32_t>(call.integer("to", 1)))));
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
  ops.insert(
      ops.end(),
      {{"Constant", constant},
       {"Reshape", reshape},
       {"Flatten", flatten},
       {"Transpose", transpose},
       {"Concat", concat},
       {"Split", split},
       {"Slice", slice},
       {"Gather", gather},
       {"Unsqueeze", unsqueeze},
       {"Squeeze", squeeze},
       {"ReduceMean", reduce},
       {"ReduceSum", reduce},
       {"ReduceMax", reduce},
       {"ReduceMin", reduce},
       {"ReduceProd", reduce},
       {"ReduceL2", reduce},
       {"ReduceLogSumExp", reduce},
       {"Expand", expand},
       {"ConstantOfShape", filled},
       {"Range", range},
       {"Cast", cast},
       {"Pad", pad},
       {"Shape", shape},
       {"Size", [](const OnnxCall& call) { return numbers({call.tensor(0).numel()}, true); }},
       {"Tile", tile},
       {"GatherElements", gather_elements},
       {"Trilu", triangle},
       {"ArgMax", largest_places},
       {"CumSum",
        [](const OnnxCall& call) { return one(at::cumsum(call.tensor(0), one_integer(call, 1))); }},
       {"DepthToSpace", depth_to_space},
       {"Einsum", einsum},
       {"Identity", [](const OnnxCall& call) {
          LT_REQUIRE(call.has(0), "the op Identity '", call.node.name, "' lacks its input");
          return Values{call.inputs[0]};
        }}});
}

}  // namespace lowtide::estimate
