// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/onnx_axes.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>

#include "base/check.h"

namespace lowtide::estimate {
namespace {

// Files of old have their weights among the inputs.
std::vector<const OnnxValueInfo*> fed_inputs(const OnnxGraph& graph) {
  std::unordered_set<std::string> weights;
  for (const OnnxTensor& weight : graph.weights) weights.insert(weight.name);
  std::vector<const OnnxValueInfo*> inputs;
  for (const OnnxValueInfo& input : graph.inputs) {
    if (!weights.contains(input.name)) inputs.push_back(&input);
  }
  return inputs;
}

std::string in_small_letters(std::string text) {
  for (char& letter : text) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return text;
}

std::string batch_among(const std::vector<std::string>& symbols, const OnnxValueInfo& first) {
  const auto found = [&](auto is_batch) {
    return std::find_if(symbols.begin(), symbols.end(), [&](const std::string& symbol) {
      return is_batch(in_small_letters(symbol));
    });
  };
  const auto named =
      found([](const std::string& name) { return name.find("batch") != std::string::npos; });
  if (named != symbols.end()) return *named;
  const auto abbreviated =
      found([](const std::string& name) { return name == "n" || name == "b" || name == "bs"; });
  if (abbreviated != symbols.end()) return *abbreviated;
  return first.symbols.empty() ? "" : first.symbols[0];
}

}  // namespace

OpenAxes open_axes_of(const OnnxGraph& graph) {
  OpenAxes open;
  const std::vector<const OnnxValueInfo*> inputs = fed_inputs(graph);
  std::vector<std::string> symbols;
  std::unordered_set<std::string> seen;
  for (const OnnxValueInfo* input : inputs) {
    for (const std::string& symbol : input->symbols) {
      if (!symbol.empty() && seen.insert(symbol).second) symbols.push_back(symbol);
    }
  }
  if (inputs.empty()) return open;
  open.batch = batch_among(symbols, *inputs[0]);
  const bool has_number = open.batch.empty() && !inputs[0]->sizes.empty();
  if (has_number) open.file_batch = inputs[0]->sizes[0];
  for (std::string& symbol : symbols) {
    if (symbol != open.batch) open.others.push_back(std::move(symbol));
  }
  return open;
}

std::int64_t ValueSizes::size(const OnnxValueInfo& info, std::size_t axis) const {
  const std::string& symbol = info.symbols[axis];
  if (!symbol.empty()) {
    if (symbol == open_.batch) return batch_;
    const auto found = sizes_.named.find(symbol);
    return found == sizes_.named.end() ? sizes_.others.value_or(-1) : found->second;
  }
  if (info.sizes[axis] >= 0) return info.sizes[axis];
  return axis == 0 ? batch_ : sizes_.others.value_or(-1);
}

std::vector<std::int64_t> ValueSizes::of_input(const OnnxValueInfo& input) const {
  LT_REQUIRE(input.has_sizes, "the input '", input.name, "' has no shape in the file");
  std::vector<std::int64_t> sizes;
  for (std::size_t axis = 0; axis < input.sizes.size(); ++axis) {
    const bool is_batch = axis == 0 && open_.batch.empty() && input.symbols[0].empty();
    const std::int64_t known = is_batch ? batch_ : size(input, axis);
    const std::string& symbol = input.symbols[axis];
    LT_REQUIRE(known >= 0, "the input '", input.name, "' has an axis ",
               symbol.empty() ? "" : "'" + symbol + "' ",
               "beside the batch that the file leaves open; name its size with ",
               symbol.empty() ? "--size or --context" : "--axis " + symbol + "=SIZE");
    sizes.push_back(known);
  }
  return sizes;
}

std::optional<std::vector<std::int64_t>> ValueSizes::of_value(const OnnxValueInfo& info) const {
  if (!info.has_sizes) return std::nullopt;
  std::vector<std::int64_t> sizes;
  for (std::size_t axis = 0; axis < info.sizes.size(); ++axis) {
    const bool is_batch = axis == 0 && open_.file_batch >= 0 && info.sizes[0] == open_.file_batch;
    const std::int64_t known = is_batch ? batch_ : size(info, axis);
    if (known < 0) return std::nullopt;
    sizes.push_back(known);
  }
  return sizes;
}

}  // namespace lowtide::estimate
