// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "estimate/onnx_graph.h"

// The sizes that an ONNX file leaves open. Axes with the same symbol are as long as each other.

namespace lowtide::estimate {

struct OpenAxes {
  // The symbol of the batch: one with "batch" in it, else one that is called n, b or bs, in large
  // or small letters, else that of the first input's first axis. Empty: the first axis of each
  // input is the batch, whatever size the file has there, but for axes with symbols.
  std::string batch;
  // The other symbols of inputs, in their order.
  std::vector<std::string> others;
  // The first input's batch, where the file has a number for it; else -1.
  std::int64_t file_batch = -1;
};
OpenAxes open_axes_of(const OnnxGraph& graph);

// What they are to be.
struct AxisSizes {
  std::map<std::string, std::int64_t> named{};
  // Of all others.
  std::optional<std::int64_t> others{};
};

// All sizes of values, as far as they are known.
class ValueSizes {
 public:
  ValueSizes(const OnnxGraph& graph, std::int64_t batch, AxisSizes sizes)
      : open_(open_axes_of(graph)), batch_(batch), sizes_(std::move(sizes)) {}

  const OpenAxes& open() const { return open_; }
  // Throws InvalidInput for an axis that nobody has told, and says how to.
  std::vector<std::int64_t> of_input(const OnnxValueInfo& input) const;
  // Nothing if the file does not say enough.
  std::optional<std::vector<std::int64_t>> of_value(const OnnxValueInfo& info) const;

 private:
  // -1: nobody has told.
  std::int64_t size(const OnnxValueInfo& info, std::size_t axis) const;

  const OpenAxes open_;
  const std::int64_t batch_;
  const AxisSizes sizes_;
};

}  // namespace lowtide::estimate
