// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/op_kinds.h"

#include <string>

#include <gtest/gtest.h>

namespace lowtide::policy {
namespace {

// One letter for each sort that the op is of.
std::string kinds_of(const char* name) {
  Op op;
  op.name = name;
  std::string kinds;
  if (is_matrix_product(op)) kinds += 'm';
  if (is_convolution(op)) kinds += 'c';
  if (is_fused_attention(op)) kinds += 'a';
  if (is_softmax(op)) kinds += 's';
  if (is_compute_heavy(op)) kinds += 'h';
  if (is_cheap_pass(op)) kinds += 'p';
  return kinds;
}

TEST(OpKinds, GoByTheNamesThatTorchHas) {
  struct Case {
    const char* name;
    const char* kinds;
  };
  const Case cases[] = {
      {"addmm", "mh"},
      {"bmm", "mh"},
      {"cudnn_convolution", "ch"},
      {"convolution_backward", "h"},
      {"_scaled_dot_product_cudnn_attention", "ah"},
      {"_scaled_dot_product_cudnn_attention_backward", "h"},
      {"_softmax", "s"},
      {"_log_softmax", ""},
      {"_softmax_backward_data", ""},
      {"native_dropout", "p"},
      {"_fused_droupout_", "p"},
      {"native_dropout_backward", ""},
      {"_to_copy", "p"},
      {"relu_", "p"},
      {"native_layer_norm", "p"},
      {"native_layer_norm_backward", ""},
      {"max_pool2d_with_indices", ""},
      {"view", ""},
  };
  for (const Case& c : cases) EXPECT_EQ(kinds_of(c.name), c.kinds) << c.name;
}

}  // namespace
}  // namespace lowtide::policy
