// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The graph of an ONNX file, as far as shapes go.

namespace lowtide::estimate {

// A tensor without its contents, but for short rows of numbers, which are shapes, axes, scales and
// the like. External data is never opened.
struct OnnxTensor {
  std::string name;
  // TensorProto.DataType.
  std::int32_t type = 0;
  std::vector<std::int64_t> sizes;
  std::optional<std::vector<std::int64_t>> integers;
  std::optional<std::vector<float>> floats;
};

// What the file says about a value.
struct OnnxValueInfo {
  std::string name;
  std::int32_t type = 0;
  bool has_sizes = false;
  // -1: a symbol stands there, or nothing.
  std::vector<std::int64_t> sizes;
  // By axis; empty where there is none.
  std::vector<std::string> symbols;
};

struct OnnxAttribute {
  std::string name;
  std::int64_t integer = 0;
  float number = 0;
  std::string text;
  std::vector<std::int64_t> integers;
  std::vector<float> numbers;
  std::optional<OnnxTensor> tensor;
};

struct OnnxNode {
  std::string name;
  std::string op;
  // Empty: ONNX's own.
  std::string domain;
  // Empty: left out.
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<OnnxAttribute> attributes;
};

struct OnnxGraph {
  std::string name;
  std::int64_t opset = 0;
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> weights;
  std::vector<OnnxValueInfo> inputs, outputs, others;
};

// What is read at most; anything beyond is refused.
inline constexpr std::size_t kOnnxFileBytes = std::size_t{2} << 30;
// What the graph may take of memory: its ops, names and numbers, as far as they are kept.
inline constexpr std::size_t kOnnxGraphBytes = std::size_t{512} << 20;
// Inputs, outputs and attributes of one op.
inline constexpr std::size_t kOnnxPartsOfOp = 65'536;
inline constexpr std::size_t kOnnxAxes = 16;
inline constexpr std::int64_t kOnnxElements = std::int64_t{1} << 44;

// Throws InvalidInput, in one line, for what is no ONNX file, for one that was cut off, for an
// opset that is not known, for sizes beyond the limits, and in a build without protozero.
OnnxGraph read_onnx(std::string_view file, std::size_t graph_bytes = kOnnxGraphBytes);

}  // namespace lowtide::estimate
