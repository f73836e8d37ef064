// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/torch/op_costs.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include <ATen/ATen.h>

namespace lowtide::estimate {
namespace {

using torch::jit::Stack;

// One op as the tables look at it.
struct Call {
  const Stack& arguments;
  const Stack& results;

  const at::Tensor& argument(std::size_t i) const { return arguments[i].toTensor(); }
  const at::Tensor& result(std::size_t i) const { return results[i].toTensor(); }
};

std::int64_t bytes_of(const at::Tensor& tensor) {
  return tensor.defined() ? static_cast<std::int64_t>(tensor.nbytes()) : 0;
}

// Multiplications and additions of a convolution over the larger of its two pictures.
std::int64_t convolution_flops(const at::Tensor& input, const at::Tensor& output,
                               const at::Tensor& weight, bool transposed) {
  const std::int64_t points = transposed ? input.numel() : output.numel();
  const std::int64_t channels = std::max<std::int64_t>(weight.size(0), 1);
  return 2 * points * (weight.numel() / channels);
}

std::int64_t forward_convolution(const Call& call) {
  return convolution_flops(call.argument(0), call.result(0), call.argument(1),
                           call.arguments[6].toBool());
}

std::int64_t backward_convolution(const Call& call) {
  const std::int64_t one = convolution_flops(call.argument(1), call.argument(0), call.argument(2),
                                             call.arguments[7].toBool());
  return one * (call.result(0).defined() ? 1 : 0) + one * (call.result(1).defined() ? 1 : 0);
}

// Rows times columns times what is summed over.
std::int64_t product(const at::Tensor& first, const at::Tensor& result) {
  return 2 * result.numel() * first.size(-1);
}

// Scores and their sum with the values; backward, twice that and the scores again.
std::int64_t attention(const at::Tensor& query, const at::Tensor& key) {
  return 4 * query.numel() * key.size(2);
}

using Flops = std::function<std::int64_t(const Call&)>;

const std::unordered_map<std::string, Flops>& flops_table() {
  static const Flops forward_attention = [](const Call& call) {
    return attention(call.argument(0), call.argument(1));
  };
  static const Flops backward_attention = [](const Call& call) {
    return attention(call.argument(1), call.argument(2)) * 5 / 2;
  };
  static const std::unordered_map<std::string, Flops> table = {
      {"aten::convolution", forward_convolution},
      {"aten::convolution_backward", backward_convolution},
      {"aten::mm", [](const Call& c) { return product(c.argument(0), c.result(0)); }},
      {"aten::bmm", [](const Call& c) { return product(c.argument(0), c.result(0)); }},
      {"aten::addmm", [](const Call& c) { return product(c.argument(1), c.result(0)); }},
      {"aten::baddbmm", [](const Call& c) { return product(c.argument(1), c.result(0)); }},
      {"aten::_scaled_dot_product_flash_attention_for_cpu", forward_attention},
      {"aten::_scaled_dot_product_efficient_attention", forward_attention},
      {"aten::_scaled_dot_product_cudnn_attention", forward_attention},
      {"aten::_scaled_dot_product_flash_attention_for_cpu_backward", backward_attention},
      {"aten::_scaled_dot_product_efficient_attention_backward", backward_attention},
      {"aten::_scaled_dot_product_cudnn_attention_backward", backward_attention}};
  return table;
}

bool is_one(const c10::IValue& numbers) {
  const auto list = numbers.toIntVector();
  return std::all_of(list.begin(), list.end(), [](std::int64_t n) { return n == 1; });
}

// cuDNN's kernels for TF32 want pictures with their channels last, and torch's have them first: it
// copies input, weight and result. Kernels of one point need no copy unless they leave points out,
// and there is a kernel for few channels that reads them as they are. Found in the workspaces of
// data/traces (H200, torch 2.11).
std::int64_t copied_bytes(const at::Tensor& input, const at::Tensor& weight,
                          const at::Tensor& output, const c10::IValue& stride) {
  constexpr std::int64_t kFewChannels = 4, kSmallKernel = 3;
  std::int64_t reach = 1;
  for (std::int64_t axis = 2; axis < weight.dim(); ++axis) {
    reach = std::max(reach, weight.size(axis));
  }
  if (input.size(1) < kFewChannels && reach <= kSmallKernel) return 0;
  if (reach > 1) return bytes_of(input) + bytes_of(weight) + bytes_of(output);
  return is_one(stride) ? 0 : bytes_of(input) + bytes_of(weight);
}

// Of parts of a weight's gradient that are summed in the end: so many at most, and so many bytes.
std::int64_t summed_bytes(const at::Tensor& weight) {
  constexpr std::int64_t kParts = 14, kMostBytes = 8'650'752;
  return std::min(kParts * bytes_of(weight), kMostBytes);
}

std::int64_t gpu_workspace(const std::string& op, const Call& call) {
  if (op == "aten::convolution") {
    return copied_bytes(call.argument(0), call.argument(1), call.result(0), call.arguments[3]);
  }
  if (op == "aten::convolution_backward") {
    return copied_bytes(call.argument(1), call.argument(2), call.argument(0), call.arguments[4]) +
           summed_bytes(call.argument(2));
  }
  return 0;
}

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
std::int64_t cpu_convolution(const Call& call) {
  const at::Tensor &input = call.argument(0), &weight = call.argument(1);
  if (is_plain_product(weight, call.arguments[3], call.arguments[8])) return 0;
  const std::int64_t result = grouped_bytes(call.result(0));
  return std::max(input_copy_bytes(input) + bytes_of(weight) + result - bytes_of(call.result(0)),
                  result);
}

std::int64_t cpu_convolution_backward(const Call& call) {
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
std::int64_t recurrent_bytes(const Call& call, std::int64_t copies) {
  constexpr std::int64_t kGates = 4;
  const std::int64_t states = bytes_of(call.argument(0));
  return copies * (bytes_of(call.argument(1)) + bytes_of(call.argument(2))) + kGates * states +
         copies * copies * states / 3;
}

std::int64_t cpu_workspace(const std::string& op, const Call& call) {
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

}  // namespace

OpCost cost_of(const std::string& op, const Stack& arguments, const Stack& results, Target target) {
  const Call call = {arguments, results};
  const auto found = flops_table().find(op);
  return {.flops = found == flops_table().end() ? 0 : found->second(call),
          .workspace_bytes =
              target == Target::kGpu ? gpu_workspace(op, call) : cpu_workspace(op, call)};
}

}  // namespace lowtide::estimate
