// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT

// ONNX's operators that put numbers on one scale, as torch's functions for the same.

#include <utility>

#include <ATen/ATen.h>

#include "base/check.h"
#include "estimate/torch/onnx_call.h"

namespace lowtide::estimate {
namespace {

using at::Tensor;
using Integers = std::vector<std::int64_t>;
using Values = std::vector<OnnxValue>;

Values batch_norm(const OnnxCall& call) {
  return one(at::batch_norm(call.tensor(0), call.tensor(1), call.tensor(2), call.tensor(3),
                            call.tensor(4), /*training=*/true, 0.1, call.number("epsilon", 1e-5),
                            /*cudnn_enabled=*/true));
}

// The axes that are put on one scale: from `axis` on.
Integers last_axes(const OnnxCall& call, const Tensor& input) {
  const std::int64_t axis = call.integer("axis", -1);
  const std::int64_t first = axis < 0 ? axis + input.dim() : axis;
  LT_REQUIRE(first >= 0 && first < input.dim(), "the op ", call.node.op, " has the axis ", axis);
  return {input.sizes().begin() + first, input.sizes().end()};
}

Values layer_norm(const OnnxCall& call) {
  const Tensor input = call.tensor(0);
  return one(at::layer_norm(input, last_axes(call, input), call.tensor_or_none(1),
                            call.tensor_or_none(2), call.number("epsilon", 1e-5)));
}

Values rms_norm(const OnnxCall& call) {
  const Tensor input = call.tensor(0);
  return one(at::rms_norm(input, last_axes(call, input), call.tensor_or_none(1),
                          call.number("epsilon", 1e-5)));
}

// Of a group's number, one for each of its channels: before opset 21 there is one a group.
Tensor for_channels(const Tensor& scale, std::int64_t channels) {
  if (!scale.defined() || scale.dim() != 1 || scale.size(0) == channels) return scale;
  const std::int64_t groups = scale.size(0);
  LT_REQUIRE(groups > 0 && channels % groups == 0, "GroupNormalization has ", groups,
             " scales for ", channels, " channels");
  return scale.unsqueeze(1).expand({groups, channels / groups}).reshape({channels});
}

Values group_norm(const OnnxCall& call) {
  const Tensor input = call.tensor(0);
  LT_REQUIRE(input.dim() > 1, "GroupNormalization has an input of ", input.dim(), " axes");
  const std::int64_t channels = input.size(1);
  return one(at::group_norm(
      input, call.integer("num_groups", 1), for_channels(call.tensor_or_none(1), channels),
      for_channels(call.tensor_or_none(2), channels), call.number("epsilon", 1e-5)));
}

Values unit_length(const OnnxCall& call) {
  const Tensor input = call.tensor(0);
  const Tensor length = at::linalg_vector_norm(
      input, call.integer("p", 2), Integers{call.integer("axis", -1)}, /*keepdim=*/true);
  return one(at::div(input, length));
}

// Local response normalisation as torch's functional has it: from ops of their own.
Values local_norm(const OnnxCall& call) {
  const Tensor input = call.tensor(0);
  const std::int64_t size = call.integer("size", 5);
  LT_REQUIRE(size > 0, "LRN has the size ", size);
  if (input.dim() != 4) throw OnnxUnknown("the op 'LRN' is known for pictures only");
  require_offset(call, size);
  const Tensor squares = at::mul(input, input).unsqueeze(1);
  const Tensor padded = at::constant_pad_nd(squares, {0, 0, 0, 0, size / 2, (size - 1) / 2});
  const Tensor sums = at::avg_pool3d(padded, {size, 1, 1}, {1, 1, 1}).squeeze(1);
  return one(at::div(input, sums.mul(call.number("alpha", 1e-4)).add(1).pow(0.75)));
}

Values instance_norm(const OnnxCall& call) {
  return one(at::instance_norm(call.tensor(0), call.tensor_or_none(1), call.tensor_or_none(2), {},
                               {},
                               /*use_input_stats=*/true, 0.1, call.number("epsilon", 1e-5),
                               /*cudnn_enabled=*/true));
}

}  // namespace

void add_norm_ops(std::vector<std::pair<std::string, OnnxOp>>& ops) {
  ops.insert(ops.end(), {{"BatchNormalization", batch_norm},
                         {"LayerNormalization", layer_norm},
                         {"RMSNormalization", rms_norm},
                         {"GroupNormalization", group_norm},
                         {"InstanceNormalization", instance_norm},
                         {"LpNormalization", unit_length},
                         {"LRN", local_norm}});
}

}  // namespace lowtide::estimate
