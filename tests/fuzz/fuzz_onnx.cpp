// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/onnx_graph.h"
#include "fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lowtide;
  const auto read = [](std::string_view file) { return estimate::read_onnx(file); };
  const auto found = fuzz::accepted(read, fuzz::text_of(data, size));
  if (!found) return 0;
  // What is accepted keeps the limits.
  for (const estimate::OnnxTensor& weight : found->weights) {
    fuzz::require(weight.sizes.size() <= estimate::kOnnxAxes, "tensors have few axes");
    std::int64_t elements = 1;
    for (const std::int64_t axis : weight.sizes) {
      fuzz::require(!__builtin_mul_overflow(elements, axis, &elements), "sizes do not overflow");
    }
    fuzz::require(elements >= 0 && elements <= estimate::kOnnxElements, "tensors have a size");
  }
  for (const estimate::OnnxValueInfo& input : found->inputs) {
    fuzz::require(input.sizes.size() <= estimate::kOnnxAxes, "values have few axes");
    fuzz::require(input.sizes.size() == input.symbols.size(), "each axis has a symbol or none");
  }
  return 0;
}
