// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// The operators of which training steps have the most. Any other may be added; none has to be here.
#include <string>

#include <ATen/Operators.h>
#include <torch/library.h>

#include "run/torch/quick_op.h"

namespace lowtide::run {
namespace {

template <class Op>
void add_one(torch::Library& library) {
  std::string name = Op::name;
  if (*Op::overload_name != '\0') name += std::string(".") + Op::overload_name;
  library.impl(name.c_str(), TORCH_FN((&QuickOp<Op>::call)));
}

template <class... Ops>
void add(torch::Library& library) {
  (add_one<Ops>(library), ...);
}

}  // namespace
}  // namespace lowtide::run

TORCH_LIBRARY_IMPL(aten, Fake, library) {
  using namespace at::_ops;  // NOLINT: a hundred names of one kind
  // Views.
  lowtide::run::add<alias, as_strided, detach, expand, permute, select_int, slice_Tensor,
                    split_Tensor, squeeze_dim, t, transpose_int, unsqueeze, view>(library);
  // Element by element.
  lowtide::run::add<_to_copy, add_Tensor, add__Tensor, div_Tensor, gelu, gelu_backward, mul_Tensor,
                    native_dropout, native_dropout_backward, relu, relu_, silu, silu_backward,
                    threshold_backward>(library);
  // Sums, norms and lookups.
  lowtide::run::add<cudnn_batch_norm, cudnn_batch_norm_backward, embedding,
                    embedding_dense_backward, native_batch_norm, native_batch_norm_backward,
                    native_group_norm, native_group_norm_backward, native_layer_norm,
                    native_layer_norm_backward, sum_dim_IntList>(library);
  // Products.
  lowtide::run::add<
      _scaled_dot_product_cudnn_attention, _scaled_dot_product_cudnn_attention_backward,
      _scaled_dot_product_efficient_attention, _scaled_dot_product_efficient_attention_backward,
      _scaled_dot_product_flash_attention, _scaled_dot_product_flash_attention_backward, addmm, bmm,
      convolution, convolution_backward, mm>(library);
  lowtide::run::add<cat>(library);
}
