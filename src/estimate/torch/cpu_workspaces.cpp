// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>

#include <ATen/ATen.h>

#include "estimate/torch/op_workspaces.h"

namespace lowtide::estimate {
namespace {

// Channels in groups of sixteen, as oneDNN's kernels have pictures.
std::int64_t grouped_bytes(const at::Tensor& pictures) {
  constexpr std::int64_t kGroup = 16;
  const std::int64_t channels = std::max<std::int64_t>(pictures.size(1), 1);
  return bytes_of(pictures) / channels * ((channels + kGroup - 1) / kGroup * kGroup);
}

// Fewer channels than a group are read as they are.
std::int64_t input_copy_bytes(const at::Tensor& input) {
  constexpr std::int64_t kGroup = 16;
  return input.size(1) < kGroup ? 0 : grouped_bytes(input);
}

bool is_plain_product(const at::Tensor& weight, const c10::IValue& stride,
                      const c10::IValue& groups) {
  const bool is_point = weight.dim() == 4 && weight.size(2) == 1 && weight.size(3) == 1;
  return is_point && is_one(stride) && groups.toInt() == 1;
}

// oneDNN copies input and weight, and the result back once these copies are gone; kernels of one
// point need none of that. Found by capturing models of the zoo on a CPU with AVX-512.
std::int64_t cpu_convolution(const OpCall& call) {
  const at::Tensor &input = call.argument(0), &weight = call.argument(1);
  if (is_plain_product(weight, call.arguments[3], call.arguments[8])) return 0;
  const std::int64_t result = grouped_bytes(call.result(0));
  return std::max(input_copy_bytes(input) + bytes_of(weight) + result - bytes_of(call.result(0)),
                  result);
}

std::int64_t cpu_convolution_backward(const OpCall& call) {
  const at::Tensor &gradient = call.argument(0), &input = call.argument(1);
  if (is_plain_product(call.argument(2), call.arguments[4], call.arguments[9])) return 0;
  // Patches of transformers: no kernel of oneDNN's own goes so far.
  constexpr std::int64_t kFar = 14;
  if (call.argument(2).size(-1) > kFar) {
    return 4 * bytes_of(call.argument(2)) + 2 * bytes_of(gradient);
  }
  return std::max(bytes_of(call.argument(2)), input_copy_bytes(input) + grouped_bytes(gradient));
}

// Copies of both weights, and the gates.
std::int64_t recurrent_bytes(const OpCall& call, std::int64_t copies) {
  constexpr std::int64_t kGates = 4;
  const std::int64_t states = bytes_of(call.argument(0));
  return copies * (bytes_of(call.argument(1)) + bytes_of(call.argument(2))) + kGates * states +
         copies * copies * states / 3;
}

}  // namespace

std::int64_t cpu_workspace_bytes(const std::string& op, const OpCall& call) {
  if (op == "aten::convolution") return cpu_convolution(call);
  if (op == "aten::convolution_backward") return cpu_convolution_backward(call);
  // A copy of the gradient.
  if (op == "aten::native_batch_norm_backward") return bytes_of(call.argument(1));
  if (op == "aten::embedding_dense_backward") return bytes_of(call.argument(0));
  // Which rows are masked.
  if (op == "aten::_safe_softmax") return call.result(0).numel();
  if (op == "aten::mkldnn_rnn_layer") return recurrent_bytes(call, 1);
  if (op == "aten::mkldnn_rnn_layer_backward") return recurrent_bytes(call, 2);
  return 0;
}

}  // namespace lowtide::estimate
