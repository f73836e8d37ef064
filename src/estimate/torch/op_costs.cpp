// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/torch/op_costs.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include <ATen/ATen.h>

#include "estimate/torch/op_workspaces.h"

namespace lowtide::estimate {
namespace {

// Multiplications and additions of a convolution over the larger of its two pictures.
std::int64_t convolution_flops(const at::Tensor& input, const at::Tensor& output,
                               const at::Tensor& weight, bool transposed) {
  const std::int64_t points = transposed ? input.numel() : output.numel();
  const std::int64_t channels = std::max<std::int64_t>(weight.size(0), 1);
  return 2 * points * (weight.numel() / channels);
}

std::int64_t forward_convolution(const OpCall& call) {
  return convolution_flops(call.argument(0), call.result(0), call.argument(1),
                           call.arguments[6].toBool());
}

std::int64_t backward_convolution(const OpCall& call) {
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

using Flops = std::function<std::int64_t(const OpCall&)>;

const std::unordered_map<std::string, Flops>& flops_table() {
  static const Flops forward_attention = [](const OpCall& call) {
    return attention(call.argument(0), call.argument(1));
  };
  static const Flops backward_attention = [](const OpCall& call) {
    return attention(call.argument(1), call.argument(2)) * 5 / 2;
  };
  static const std::unordered_map<std::string, Flops> table = {
      {"aten::convolution", forward_convolution},
      {"aten::convolution_backward", backward_convolution},
      {"aten::mm", [](const OpCall& c) { return product(c.argument(0), c.result(0)); }},
      {"aten::bmm", [](const OpCall& c) { return product(c.argument(0), c.result(0)); }},
      {"aten::addmm", [](const OpCall& c) { return product(c.argument(1), c.result(0)); }},
      {"aten::baddbmm", [](const OpCall& c) { return product(c.argument(1), c.result(0)); }},
      {"aten::_scaled_dot_product_flash_attention_for_cpu", forward_attention},
      {"aten::_scaled_dot_product_flash_attention", forward_attention},
      {"aten::_scaled_dot_product_efficient_attention", forward_attention},
      {"aten::_scaled_dot_product_cudnn_attention", forward_attention},
      {"aten::_scaled_dot_product_flash_attention_for_cpu_backward", backward_attention},
      {"aten::_scaled_dot_product_flash_attention_backward", backward_attention},
      {"aten::_scaled_dot_product_efficient_attention_backward", backward_attention},
      {"aten::_scaled_dot_product_cudnn_attention_backward", backward_attention}};
  return table;
}

}  // namespace

OpCost cost_of(const std::string& op, const torch::jit::Stack& arguments,
               const torch::jit::Stack& results, const Target& target) {
  const OpCall call = {arguments, results};
  const auto found = flops_table().find(op);
  OpCost cost;
  if (found != flops_table().end()) cost.flops = found->second(call);
  if (target.gpu) {
    cost.workspace_bytes = gpu_workspace_bytes(op, call, *target.gpu);
    cost.early_workspace_bytes = gpu_early_workspace_bytes(op, call);
  } else {
    cost.workspace_bytes = cpu_workspace_bytes(op, call);
  }
  return cost;
}

}  // namespace lowtide::estimate
