// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "estimate/onnx_axes.h"
#include "estimate/onnx_graph.h"
#include "estimate/torch/zoo_step.h"

namespace lowtide::estimate {

struct OnnxStep {
  DryStep step;
  // What was not known and had to be guessed, in one line each.
  std::vector<std::string> warnings;
};

// A step of training the graph, run on shapes: floating-point weights are trained, all but the
// statistics of batch norms, and the loss is the cross entropy of each output with two axes and the
// mean of any other. `axes`: the sizes of axes that the file leaves open, beside the batch. Throws
// InvalidInput for a graph that does not go together, naming the op.
OnnxStep onnx_step(const OnnxGraph& graph, const StepOptions& options, const AxisSizes& axes);

}  // namespace lowtide::estimate
