// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "estimate/onnx_graph.h"
#include "lowtide/errors.h"

namespace lowtide::estimate {

// What an op needs cannot be told from the file, or is not known here, although the file may well
// be right: the op is guessed.
class OnnxUnknown : public InvalidInput {
 public:
  using InvalidInput::InvalidInput;
};

// A value of an ONNX graph while it is run on shapes. Shapes are computed by graphs too, so that
// short rows of whole numbers are known; such a value may have no tensor.
struct OnnxValue {
  at::Tensor tensor{};
  std::optional<std::vector<std::int64_t>> integers{};
  // With `integers`: whether it is one number without axes.
  bool is_scalar = false;
  // Of a short row of fractions, beside its tensor.
  std::optional<std::vector<float>> floats{};
  // Of a small table of whole numbers with two axes, row by row, beside its tensor.
  std::optional<std::vector<std::int64_t>> table{};

  bool is_there() const { return tensor.defined() || integers.has_value(); }
};

// One op with its inputs.
struct OnnxCall {
  const OnnxNode& node;
  std::vector<OnnxValue> inputs;
  std::int64_t opset = 0;
  // Of the inputs in the file, and as it was asked for: shapes in the file that begin with the one
  // mean the other.
  std::int64_t file_batch = -1;
  std::int64_t batch = 1;

  bool has(std::size_t i) const { return i < inputs.size() && inputs[i].is_there(); }
  // Throws InvalidInput if it is not there.
  at::Tensor tensor(std::size_t i) const;
  at::Tensor tensor_or_none(std::size_t i) const { return has(i) ? tensor(i) : at::Tensor(); }
  // Throws OnnxUnknown if the numbers are not known.
  std::vector<std::int64_t> integers(std::size_t i) const;

  const OnnxAttribute* attribute(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  double number(std::string_view name, double otherwise) const;
  std::vector<std::int64_t> integers(std::string_view name,
                                     std::vector<std::int64_t> otherwise) const;
  // The attribute, or from a later opset on the input; nothing if neither is there.
  std::optional<std::vector<std::int64_t>> integers(std::string_view name, std::size_t input) const;
};

using OnnxOp = std::function<std::vector<OnnxValue>(const OnnxCall&)>;

// Null: not known.
const OnnxOp* find_onnx_op(const std::string& name);
// Those that make networks, those that go entry by entry, and those that move numbers.
void add_layer_ops(std::vector<std::pair<std::string, OnnxOp>>& ops);
void add_norm_ops(std::vector<std::pair<std::string, OnnxOp>>& ops);
void add_picture_ops(std::vector<std::pair<std::string, OnnxOp>>& ops);
void add_attention_ops(std::vector<std::pair<std::string, OnnxOp>>& ops);
void add_shape_ops(std::vector<std::pair<std::string, OnnxOp>>& ops);
void add_index_ops(std::vector<std::pair<std::string, OnnxOp>>& ops);
void add_recurrent_ops(std::vector<std::pair<std::string, OnnxOp>>& ops);
void add_arithmetic_ops(std::vector<std::pair<std::string, OnnxOp>>& ops);
void add_tensor_ops(std::vector<std::pair<std::string, OnnxOp>>& ops);

// Of TensorProto.DataType. Throws InvalidInput for one that torch does not have.
at::ScalarType scalar_type_of(std::int32_t onnx_type);

std::vector<OnnxValue> one(at::Tensor tensor);
std::vector<OnnxValue> numbers(std::vector<std::int64_t> integers, bool is_scalar = false);
// Whether all inputs are numbers that are known.
bool has_numbers(const OnnxCall& call);

// The only number of an input. Throws as OnnxCall::integers does, and InvalidInput for several.
std::int64_t one_integer(const OnnxCall& call, std::size_t i);

// Throw InvalidInput for what does not go into 64 bits, and for a division by 0.
std::int64_t sum_of(std::int64_t a, std::int64_t b);
std::int64_t difference_of(std::int64_t a, std::int64_t b);
std::int64_t product_of(std::int64_t a, std::int64_t b);
std::int64_t quotient_of(std::int64_t a, std::int64_t b);
// Throws InvalidInput for a stride, a padding or the like that is so large that torch, which does
// not look, would count beyond 64 bits.
void require_offset(const OnnxCall& call, std::int64_t offset);

}  // namespace lowtide::estimate
