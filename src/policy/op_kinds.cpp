// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/op_kinds.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace lowtide::policy {
namespace {

bool has(const Op& op, std::string_view part) { return op.name.find(part) != std::string::npos; }

bool is_backward(const Op& op) { return has(op, "backward"); }

// The name without what marks private and in-place operators: "_softmax", "relu_".
std::string_view plain_name(const Op& op) {
  std::string_view name = op.name;
  while (!name.empty() && name.front() == '_') name.remove_prefix(1);
  while (!name.empty() && name.back() == '_') name.remove_suffix(1);
  return name;
}

template <std::size_t N>
bool is_one_of(const Op& op, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), plain_name(op)) != names.end();
}

constexpr std::array<std::string_view, 9> kProducts{"mm",     "bmm",   "addmm", "baddbmm", "matmul",
                                                    "linear", "addmv", "mv",    "addbmm"};

constexpr std::array<std::string_view, 28> kCheapPasses{"add",
                                                        "sub",
                                                        "mul",
                                                        "div",
                                                        "to_copy",
                                                        "clone",
                                                        "copy",
                                                        "contiguous",
                                                        "relu",
                                                        "gelu",
                                                        "silu",
                                                        "tanh",
                                                        "sigmoid",
                                                        "leaky_relu",
                                                        "elu",
                                                        "hardtanh",
                                                        "hardswish",
                                                        "softplus",
                                                        "where",
                                                        "masked_fill",
                                                        "cat",
                                                        "expand",
                                                        "native_layer_norm",
                                                        "native_batch_norm",
                                                        "native_group_norm",
                                                        "cudnn_batch_norm",
                                                        "batch_norm",
                                                        "layer_norm"};

}  // namespace

bool is_matrix_product(const Op& op) { return is_one_of(op, kProducts); }

bool convolves(const Op& op) { return has(op, "conv"); }

bool is_convolution(const Op& op) { return convolves(op) && !is_backward(op); }

bool is_fused_attention(const Op& op) {
  const bool is_named = has(op, "scaled_dot_product") || has(op, "flash_attention") ||
                        has(op, "efficient_attention") || has(op, "flash_attn");
  return is_named && !is_backward(op);
}

bool is_softmax(const Op& op) {
  return has(op, "softmax") && !has(op, "log_softmax") && !is_backward(op);
}

bool is_compute_heavy(const Op& op) {
  return is_matrix_product(op) || has(op, "conv") || has(op, "attention");
}

// Dropout has many kernels, one of which is misspelt in torch.
bool is_cheap_pass(const Op& op) {
  return is_one_of(op, kCheapPasses) ||
         ((has(op, "dropout") || has(op, "droupout")) && !is_backward(op));
}

}  // namespace lowtide::policy
