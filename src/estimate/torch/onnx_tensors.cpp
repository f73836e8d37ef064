// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT

// ONNX's operators that move, cut and compute numbers, as torch's functions for the same. Those
// that graphs compute shapes with work on known numbers too.

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

Values numbers(Integers integers, bool is_scalar = false) {
  return {OnnxValue{.tensor = {}, .integers = std::move(integers), .is_scalar = is_scalar}};
}

bool has_numbers(const OnnxCall& call) {
  return std::all_of(call.inputs.begin(), call.inputs.end(), [](const OnnxValue& value) {
    return value.integers.has_value() && !value.tensor.defined();
  });
}

Values constant(const OnnxCall& call) {
  if (const OnnxAttribute* value = call.attribute("value"); value && value->tensor) {
    const OnnxTensor& tensor = *value->tensor;
    if (tensor.integers) return numbers(*tensor.integers, tensor.sizes.empty());
    return one(at::empty(tensor.sizes, scalar_type_of(tensor.type)));
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
  for (std::size_t i = 0; i < sizes.size(); ++i) {
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

Values reduce(const OnnxCall& call) {
  const Tensor input = call.tensor(0);
  const std::optional<Integers> axes = call.integers("axes", 1);
  const bool keeps = call.integer("keepdims", 1) != 0;
  Integers all;
  for (std::int64_t i = 0; i < input.dim(); ++i) all.push_back(i);
  const Integers over = axes.value_or(all);
  if (call.node.op == "ReduceMean") return one(at::mean(input, over, keeps));
  if (call.node.op == "ReduceMax") return one(at::amax(input, over, keeps));
  return one(at::sum(input, over, keeps));
}

Values expand(const OnnxCall& call) {
  const Tensor input = call.tensor(0);
  const Integers sizes = at::infer_size(input.sizes(), call.integers(1));
  return one(input.expand(sizes));
}

Values filled(const OnnxCall& call) {
  const OnnxAttribute* value = call.attribute("value");
  const bool has_type = value != nullptr && value->tensor;
  return one(at::empty(call.integers(0),
                       has_type ? scalar_type_of(value->tensor->type) : at::ScalarType::Float));
}

std::int64_t difference_of(std::int64_t a, std::int64_t b);
std::int64_t quotient_of(std::int64_t a, std::int64_t b);

Values range(const OnnxCall& call) {
  const Integers start = call.integers(0), end = call.integers(1), step = call.integers(2);
  LT_REQUIRE(start.size() == 1 && end.size() == 1 && step.size() == 1 && step[0] != 0,
             "Range wants three numbers");
  const std::int64_t count =
      std::max<std::int64_t>(0, quotient_of(difference_of(end[0], start[0]), step[0]));
  return one(at::empty({count}, at::kLong));
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
  LT_REQUIRE(pads.size() == 2 * axes, "Pad has pads for other axes than its input's");
  Integers outer;
  for (std::size_t i = axes; i-- > 0;) outer.insert(outer.end(), {pads[i], pads[i + axes]});
  return one(at::constant_pad_nd(input, outer));
}

using Unary = Tensor (*)(const Tensor&);
OnnxOp unary(Unary function) {
  return [function](const OnnxCall& call) { return one(function(call.tensor(0))); };
}

using Binary = Tensor (*)(const Tensor&, const Tensor&);
using Numbers = std::int64_t (*)(std::int64_t, std::int64_t);
// On known numbers too, if both are as many or one is a single one.
OnnxOp binary(Binary function, Numbers on_numbers = nullptr) {
  return [function, on_numbers](const OnnxCall& call) {
    if (on_numbers == nullptr || call.inputs.size() != 2 || !has_numbers(call)) {
      return one(function(call.tensor(0), call.tensor(1)));
    }
    const Integers a = call.integers(0), b = call.integers(1);
    LT_REQUIRE(!a.empty() && !b.empty() && (a.size() == b.size() || a.size() == 1 || b.size() == 1),
               "the op ", call.node.op, " has inputs of different lengths");
    Integers results;
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
      results.push_back(on_numbers(a[std::min(i, a.size() - 1)], b[std::min(i, b.size() - 1)]));
    }
    return numbers(results, call.inputs[0].is_scalar && call.inputs[1].is_scalar);
  };
}

constexpr const char* kTooLarge = "the graph computes a size that is too large";

std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  LT_REQUIRE(!__builtin_add_overflow(a, b, &sum), kTooLarge);
  return sum;
}

std::int64_t difference_of(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  LT_REQUIRE(!__builtin_sub_overflow(a, b, &difference), kTooLarge);
  return difference;
}

std::int64_t product_of(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  LT_REQUIRE(!__builtin_mul_overflow(a, b, &product), kTooLarge);
  return product;
}

std::int64_t quotient_of(std::int64_t a, std::int64_t b) {
  LT_REQUIRE(b != 0, "the graph divides a size by 0");
  return b == -1 ? product_of(a, b) : a / b;
}

Values sum_of_all(const OnnxCall& call) {
  Tensor sum = call.tensor(0);
  for (std::size_t i = 1; i < call.inputs.size(); ++i) sum = at::add(sum, call.tensor(i));
  return one(sum);
}

void add_arithmetic(std::vector<std::pair<std::string, OnnxOp>>& ops) {
  ops.insert(
      ops.end(),
      {{"Add", binary([](const Tensor& a, const Tensor& b) { return at::add(a, b); },
                      sum_of)},
       {"Sub", binary([](const Tensor& a, const Tensor& b) { return at::sub(a, b); },
                      difference_of)},
       {"Mul", binary([](const Tensor& a, const Tensor& b) { return at::mul(a, b); },
                      product_of)},
       {"Div", binary([](const Tensor& a, const Tensor& b) { return at::div(a, b); },
                      quotient_of)},
       {"Pow", binary([](const Tensor& a, const Tensor& b) { return at::pow(a, b); })},
       {"Equal", binary([](const Tensor& a, const Tensor& b) { return at::eq(a, b); })},
       {"Less", binary([](const Tensor& a, const Tensor& b) { return at::lt(a, b); })},
       {"Greater", binary([](const Tensor& a, const Tensor& b) { return at::gt(a, b); })},
       {"And", binary([](const Tensor& a, const Tensor& b) { return at::logical_and(a, b); })},
       {"PRelu", binary([](const Tensor& a, const Tensor& b) { return at::where(a.gt(0), a, a.mul(b)); })},
       {"Relu", unary([](const Tensor& a) { return at::relu(a); })},
       {"Sigmoid", unary([](const Tensor& a) { return at::sigmoid(a); })},
       {"Tanh", unary([](const Tensor& a) { return at::tanh(a); })},
       {"Erf", unary([](const Tensor& a) { return at::erf(a); })},
       {"Exp", unary([](const Tensor& a) { return at::exp(a); })},
       {"Log", unary([](const Tensor& a) { return at::log(a); })},
       {"Sqrt", unary([](const Tensor& a) { return at::sqrt(a); })},
       {"Reciprocal", unary([](const Tensor& a) { return at::reciprocal(a); })},
       {"Neg", unary([](const Tensor& a) { return at::neg(a); })},
       {"Abs", unary([](const Tensor& a) { return at::abs(a); })},
       {"Not", unary([](const Tensor& a) { return at::logical_not(a); })},
       {"Gelu", unary([](const Tensor& a) { return at::gelu(a); })},
       {"LeakyRelu", unary([](const Tensor& a) { return at::leaky_relu(a); })},
       {"HardSwish", unary([](const Tensor& a) { return at::hardswish(a); })},
       {"HardSigmoid", unary([](const Tensor& a) { return at::hardsigmoid(a); })},
       {"Elu", unary([](const Tensor& a) { return at::elu(a); })},
       {"Softplus", unary([](const Tensor& a) { return at::softplus(a); })},
       {"Clip", unary([](const Tensor& a) { return at::hardtanh(a, 0, 6); })},
       {"Identity", [](const OnnxCall& call) { return Values{call.inputs.at(0)}; }},
       {"Where", [](const OnnxCall& call) {
          return one(at::where(call.tensor(0).to(at::kBool), call.tensor(1), call.tensor(2)));
        }},
       {"Sum", sum_of_all}});
}

}  // namespace

void add_tensor_ops(std::vector<std::pair<std::string, OnnxOp>>& ops) {
  add_arithmetic(ops);
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
       {"Expand", expand},
       {"ConstantOfShape", filled},
       {"Range", range},
       {"Cast", cast},
       {"Pad", pad},
       {"Shape", [](const OnnxCall& call) { return numbers(call.tensor(0).sizes().vec()); }}});
}

}  // namespace lowtide::estimate
