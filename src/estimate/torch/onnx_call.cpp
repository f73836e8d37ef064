// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/torch/onnx_call.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <ATen/ATen.h>

#include "base/check.h"

namespace lowtide::estimate {

at::Tensor OnnxCall::tensor(std::size_t i) const {
  LT_REQUIRE(has(i), "the op ", node.op, " '", node.name, "' lacks its input ", i);
  if (inputs[i].tensor.defined()) return inputs[i].tensor;
  const auto length = static_cast<std::int64_t>(inputs[i].integers->size());
  return inputs[i].is_scalar ? at::empty({}, at::kLong) : at::empty({length}, at::kLong);
}

std::vector<std::int64_t> OnnxCall::integers(std::size_t i) const {
  if (i >= inputs.size() || !inputs[i].integers) {
    throw OnnxUnknown(base::concat("the op '", node.op, "' wants numbers as its input ", i,
                                   " that are only known when the model runs"));
  }
  return *inputs[i].integers;
}

const OnnxAttribute* OnnxCall::attribute(std::string_view name) const {
  for (const OnnxAttribute& attribute : node.attributes) {
    if (attribute.name == name) return &attribute;
  }
  return nullptr;
}

std::int64_t OnnxCall::integer(std::string_view name, std::int64_t otherwise) const {
  const OnnxAttribute* found = attribute(name);
  return found == nullptr ? otherwise : found->integer;
}

double OnnxCall::number(std::string_view name, double otherwise) const {
  const OnnxAttribute* found = attribute(name);
  return found == nullptr ? otherwise : found->number;
}

std::vector<std::int64_t> OnnxCall::integers(std::string_view name,
                                             std::vector<std::int64_t> otherwise) const {
  const OnnxAttribute* found = attribute(name);
  return found == nullptr || found->integers.empty() ? std::move(otherwise) : found->integers;
}

std::optional<std::vector<std::int64_t>> OnnxCall::integers(std::string_view name,
                                                            std::size_t input) const {
  if (const OnnxAttribute* found = attribute(name)) return found->integers;
  if (has(input)) return integers(input);
  return std::nullopt;
}

const OnnxOp* find_onnx_op(const std::string& name) {
  static const std::unordered_map<std::string, OnnxOp> table = [] {
    std::vector<std::pair<std::string, OnnxOp>> ops;
    add_layer_ops(ops);
    add_norm_ops(ops);
    add_picture_ops(ops);
    add_attention_ops(ops);
    add_shape_ops(ops);
    add_index_ops(ops);
    add_recurrent_ops(ops);
    add_arithmetic_ops(ops);
    add_tensor_ops(ops);
    return std::unordered_map<std::string, OnnxOp>(ops.begin(), ops.end());
  }();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

at::ScalarType scalar_type_of(std::int32_t onnx_type) {
  switch (onnx_type) {
    case 1:
      return at::kFloat;
    case 2:
      return at::kByte;
    case 3:
      return at::kChar;
    case 4:
      return at::kUInt16;
    case 5:
      return at::kShort;
    case 6:
      return at::kInt;
    case 7:
      return at::kLong;
    case 9:
      return at::kBool;
    case 10:
      return at::kHalf;
    case 11:
      return at::kDouble;
    case 12:
      return at::kUInt32;
    case 13:
      return at::kUInt64;
    case 16:
      return at::kBFloat16;
    default:
      throw InvalidInput(base::concat("ONNX's type ", onnx_type, " is not known"));
  }
}

std::vector<OnnxValue> one(at::Tensor tensor) { return {OnnxValue{.tensor = std::move(tensor)}}; }

std::vector<OnnxValue> numbers(std::vector<std::int64_t> integers, bool is_scalar) {
  return {OnnxValue{.tensor = {}, .integers = std::move(integers), .is_scalar = is_scalar}};
}

bool has_numbers(const OnnxCall& call) {
  return std::all_of(call.inputs.begin(), call.inputs.end(), [](const OnnxValue& value) {
    return value.integers.has_value() && !value.tensor.defined();
  });
}

std::int64_t one_integer(const OnnxCall& call, std::size_t i) {
  const std::vector<std::int64_t> integers = call.integers(i);
  LT_REQUIRE(integers.size() == 1, "the op ", call.node.op, " wants one number as its input ", i);
  return integers[0];
}

void require_offset(const OnnxCall& call, std::int64_t offset) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  LT_REQUIRE(offset >= -kMost && offset <= kMost, "the op ", call.node.op, " '", call.node.name,
             "' has the number ", offset, ", which is too large");
}

}  // namespace lowtide::estimate
