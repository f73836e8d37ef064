// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT

// ONNX's operators that graphs compute shapes with, as torch's functions for the same. They work on
// known numbers too.

#include <algorithm>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/InferSize.h>
#include <ATen/WrapDimUtils.h>

#include "base/check.h"
#include "estimate/torch/onnx_call.h"

namespace lowtide::estimate {
namespace {

using at::Tensor;
using Integers = std::vector<std::int64_t>;
using Values = std::vector<OnnxValue>;

constexpr std::int64_t kMostNumbers = 64;
constexpr std::size_t kMostJoined = 4096;

// An axis that lies beyond an input would be read without a check below.
std::size_t wrapped(std::int64_t axis, std::int64_t axes) {
  return static_cast<std::size_t>(at::maybe_wrap_dim(axis, axes));
}

bool is_row(const OnnxCall& call) { return call.has(0) && call.inputs[0].integers.has_value(); }

// Known numbers of that shape: none, one or two axes.
Values shaped_numbers(Integers all, const Integers& sizes) {
  if (sizes.size() <= 1) return numbers(std::move(all), sizes.empty());
  return {OnnxValue{.tensor = at::empty(sizes, at::kLong), .table = std::move(all)}};
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
  if (const OnnxAttribute* value = call.attribute("value_floats")) {
    const auto length = static_cast<std::int64_t>(value->numbers.size());
    return {OnnxValue{.tensor = at::empty({length}, at::kFloat), .floats = value->numbers}};
  }
  if (const OnnxAttribute* value = call.attribute("value_float")) {
    return {OnnxValue{.tensor = at::empty({}, at::kFloat), .floats = std::vector{value->number}}};
  }
  return one(at::empty({}, at::kFloat));
}

// A file with a fixed batch has it in its shapes: as the first size, or as a part of it.
void set_batch(const OnnxCall& call, const Tensor& input, Integers& sizes) {
  if (call.file_batch < 1 || call.file_batch == call.batch || sizes.empty()) return;
  if (sizes[0] == call.file_batch && input.dim() > 0 && input.size(0) == call.batch) {
    sizes[0] = call.batch;
    return;
  }
  std::int64_t elements = 1;
  for (const std::int64_t size : sizes) {
    if (size < 0) return;
    elements = product_of(elements, size);
  }
  const bool is_of_files_batch =
      elements != input.numel() && sizes[0] % call.file_batch == 0 &&
      elements / call.file_batch == input.numel() / std::max<std::int64_t>(call.batch, 1);
  if (is_of_files_batch) sizes[0] = product_of(sizes[0] / call.file_batch, call.batch);
}

// A size of 0 is the input's, and -1 whatever is left.
Values reshape(const OnnxCall& call) {
  const Tensor input = call.tensor(0);
  std::optional<Integers> asked = call.integers("shape", 1);
  LT_REQUIRE(asked.has_value(), "the op Reshape '", call.node.name, "' has no shape");
  Integers sizes = *asked;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    LT_REQUIRE(sizes[i] != 0 || static_cast<std::int64_t>(i) < input.dim(), "the op Reshape '",
               call.node.name, "' keeps an axis that its input lacks");
    if (sizes[i] == 0 && call.integer("allowzero", 0) == 0) {
      sizes[i] = input.size(static_cast<std::int64_t>(i));
    }
  }
  set_batch(call, input, sizes);
  if (is_row(call) || call.inputs[0].table) {
    const Integers all = is_row(call) ? call.integers(0) : *call.inputs[0].table;
    const Integers whole = at::infer_size(sizes, static_cast<std::int64_t>(all.size()));
    if (whole.size() <= 2) return shaped_numbers(all, whole);
  }
  return one(input.reshape(sizes));
}

Values transpose(const OnnxCall& call) {
  const Tensor input = call.tensor(0);
  Integers order;
  for (std::int64_t i = input.dim(); i-- > 0;) order.push_back(i);
  const Integers asked = call.integers("perm", order);
  OnnxValue result{.tensor = input.permute(asked)};
  if (call.inputs[0].table && asked == Integers{1, 0}) {
    result.table.emplace();
    for (std::int64_t column = 0; column < input.size(1); ++column) {
      for (std::int64_t row = 0; row < input.size(0); ++row) {
        const std::int64_t place = row * input.size(1) + column;
        result.table->push_back((*call.inputs[0].table)[static_cast<std::size_t>(place)]);
      }
    }
  }
  return {std::move(result)};
}

// Puts known rows behind each other. Nothing if one is not known, and for more numbers than a shape
// has: a row that is joined with itself over and over would fill the memory.
template <class Number, class RowOf>
std::optional<std::vector<Number>> joined(const OnnxCall& call, const RowOf& row_of) {
  std::vector<Number> all;
  for (const OnnxValue& input : call.inputs) {
    const std::optional<std::vector<Number>>& row = row_of(input);
    if (!row || all.size() + row->size() > kMostJoined) return std::nullopt;
    all.insert(all.end(), row->begin(), row->end());
  }
  return all;
}

Values concat(const OnnxCall& call) {
  auto integers = joined<std::int64_t>(
      call, [](const OnnxValue& value) -> auto& { return value.integers; });
  if (integers && !call.inputs.empty()) return numbers(std::move(*integers));
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) tensors.push_back(call.tensor(i));
  OnnxValue result{.tensor = at::cat(tensors, call.integer("axis", 1))};
  if (result.tensor.dim() == 1) {
    result.floats = joined<float>(
        call, [](const OnnxValue& value) -> auto& { return value.floats; });
  }
  return {std::move(result)};
}

// Which places of an axis a slice takes.
struct Cut {
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

Cut cut_of(std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t size) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  step = std::clamp(step, -kMost, kMost);
  LT_REQUIRE(step != 0, "Slice has a step of 0");
  const auto place = [size](std::int64_t at, std::int64_t least, std::int64_t most) {
    return std::clamp<std::int64_t>(at < 0 && at >= -size ? at + size : at, least, most);
  };
  if (step > 0) {
    const std::int64_t first = place(start, 0, size), last = place(end, 0, size);
    return {first, step, last <= first ? 0 : (last - first - 1) / step + 1};
  }
  const std::int64_t first = place(start, -1, size - 1), last = place(end, -1, size - 1);
  return {first, step, first <= last ? 0 : (first - last - 1) / -step + 1};
}

// Backwards takes the same from the other end and turns it round, which is a copy.
Tensor sliced(const Tensor& tensor, std::int64_t axis, const Cut& cut) {
  if (cut.count == 0) return tensor.slice(axis, 0, 0);
  const std::int64_t last = cut.first + (cut.count - 1) * cut.step;
  if (cut.step > 0) return tensor.slice(axis, cut.first, last + 1, cut.step);
  return tensor.slice(axis, last, cut.first + 1, -cut.step).clone();
}

// By rows of so many numbers.
Integers sliced_rows(const Integers& all, std::int64_t columns, const Cut& cut) {
  Integers some;
  for (std::int64_t i = 0; i < cut.count; ++i) {
    const auto row = all.begin() + (cut.first + i * cut.step) * columns;
    some.insert(some.end(), row, row + columns);
  }
  return some;
}

Values slice(const OnnxCall& call) {
  Tensor tensor = call.tensor(0);
  const std::optional<Integers> starts = call.integers("starts", 1),
                                ends = call.integers("ends", 2);
  LT_REQUIRE(starts && ends && starts->size() == ends->size(), "Slice lacks its bounds");
  const std::optional<Integers> axes = call.integers("axes", 3);
  const Integers steps = call.has(4) ? call.integers(4) : Integers(starts->size(), 1);
  LT_REQUIRE((!axes || axes->size() == starts->size()) && steps.size() == starts->size(),
             "Slice has bounds for other axes than it names");
  const bool is_known = (is_row(call) || call.inputs[0].table) && starts->size() == 1;
  for (std::size_t i = 0; i < starts->size(); ++i) {
    const std::size_t axis =
        wrapped(axes ? (*axes)[i] : static_cast<std::int64_t>(i), tensor.dim());
    const std::int64_t size = tensor.size(static_cast<std::int64_t>(axis));
    const Cut cut = cut_of((*starts)[i], (*ends)[i], steps[i], size);
    if (is_known && axis == 0) {
      if (is_row(call)) return numbers(sliced_rows(call.integers(0), 1, cut));
      return shaped_numbers(sliced_rows(*call.inputs[0].table, tensor.size(1), cut),
                            {cut.count, tensor.size(1)});
    }
    tensor = sliced(tensor, static_cast<std::int64_t>(axis), cut);
  }
  return one(tensor);
}

Values unsqueeze(const OnnxCall& call) {
  Integers axes = call.integers("axes", 1).value_or(Integers());
  const bool becomes_row = call.has(0) && call.tensor(0).dim() == 0 && axes.size() == 1;
  if (becomes_row && is_row(call)) return numbers(call.integers(0));
  Tensor tensor = call.tensor(0);
  const std::int64_t axes_after = tensor.dim() + static_cast<std::int64_t>(axes.size());
  for (std::int64_t& axis : axes) axis = static_cast<std::int64_t>(wrapped(axis, axes_after));
  std::sort(axes.begin(), axes.end());
  for (const std::int64_t axis : axes) tensor = tensor.unsqueeze(axis);
  return {
      OnnxValue{.tensor = tensor, .floats = becomes_row ? call.inputs[0].floats : std::nullopt}};
}

Values squeeze(const OnnxCall& call) {
  if (is_row(call)) {
    const Integers all = call.integers(0);
    return numbers(all, all.size() == 1);
  }
  const std::optional<Integers> axes = call.integers("axes", 1);
  return one(axes ? call.tensor(0).squeeze(*axes) : call.tensor(0).squeeze());
}

Values expand(const OnnxCall& call) {
  const Tensor input = call.tensor(0);
  const Integers sizes = at::infer_size(input.sizes(), call.integers(1));
  return one(input.expand(sizes));
}

// A row of a few whole numbers is known, as a shape may be made of it.
Values filled(const OnnxCall& call) {
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
  const std::int64_t span = difference_of(end[0], start[0]);
  // The last part of a step counts as one.
  const std::int64_t rest = step[0] == -1 ? 0 : span % step[0];
  const bool has_part = rest != 0 && (rest > 0) == (step[0] > 0);
  const std::int64_t count =
      std::max<std::int64_t>(0, sum_of(quotient_of(span, step[0]), has_part ? 1 : 0));
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

bool is_whole(at::ScalarType type) { return !at::isFloatingType(type) && !at::isComplexType(type); }

// Known numbers stay so: whole ones become fractions, and these are cut off.
Values cast_to(const OnnxCall& call, at::ScalarType type) {
  LT_REQUIRE(call.has(0), "the op ", call.node.op, " '", call.node.name, "' lacks its input");
  const OnnxValue& value = call.inputs[0];
  if (value.table && is_whole(type)) return {value};
  if (value.integers) {
    if (is_whole(type)) return {value};
    return {
        OnnxValue{.tensor = call.tensor(0).to(type),
                  .floats = std::vector<float>(value.integers->begin(), value.integers->end())}};
  }
  constexpr float kMost = 1e15F;
  const auto goes_into_64_bits = [](float number) { return number > -kMost && number < kMost; };
  if (value.floats && is_whole(type) && value.tensor.dim() <= 1 &&
      std::all_of(value.floats->begin(), value.floats->end(), goes_into_64_bits)) {
    return numbers(Integers(value.floats->begin(), value.floats->end()), value.tensor.dim() == 0);
  }
  return {OnnxValue{.tensor = value.tensor.to(type), .floats = value.floats}};
}

Values cast(const OnnxCall& call) {
  return cast_to(call, scalar_type_of(static_cast<std::int32_t>(call.integer("to", 1))));
}

Values cast_like(const OnnxCall& call) { return cast_to(call, call.tensor(1).scalar_type()); }

Values identity(const OnnxCall& call) {
  LT_REQUIRE(call.has(0), "the op Identity '", call.node.name, "' lacks its input");
  return {call.inputs[0]};
}

Values count(const OnnxCall& call) { return numbers({call.tensor(0).numel()}, true); }

}  // namespace

void add_shape_ops(std::vector<std::pair<std::string, OnnxOp>>& ops) {
  ops.insert(ops.end(), {{"Constant", constant},
                         {"Reshape", reshape},
                         {"Transpose", transpose},
                         {"Concat", concat},
                         {"Slice", slice},
                         {"Unsqueeze", unsqueeze},
                         {"Squeeze", squeeze},
                         {"Expand", expand},
                         {"ConstantOfShape", filled},
                         {"Range", range},
                         {"Cast", cast},
                         {"CastLike", cast_like},
                         {"Shape", shape},
                         {"Size", count},
                         {"Identity", identity}});
}

}  // namespace lowtide::estimate
