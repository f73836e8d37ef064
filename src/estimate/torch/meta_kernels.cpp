// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT

// The shapes that ops give, for ops whose functions for the device `meta` torch has in Python only.
// Sizes are as torch 2.11's kernels make them; tests/estimate holds them against the real ones.

#include <array>
#include <optional>
#include <tuple>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <ATen/WrapDimUtils.h>
#include <torch/library.h>

namespace lowtide::estimate {
namespace {

using at::IntArrayRef;
using at::Tensor;
using std::optional;
using Two = std::tuple<Tensor, Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;
using Four = std::tuple<Tensor, Tensor, Tensor, Tensor>;

Tensor like(const Tensor& tensor) { return at::empty_like(tensor, at::MemoryFormat::Contiguous); }
Tensor like_if(bool is_wanted, const Tensor& tensor) { return is_wanted ? like(tensor) : Tensor(); }
Tensor floats(IntArrayRef sizes, const Tensor& beside) {
  return at::empty(sizes, beside.options().dtype(at::kFloat));
}
Tensor sized(IntArrayRef sizes, const Tensor& beside) { return at::empty(sizes, beside.options()); }

std::int64_t at_or_only(IntArrayRef values, std::size_t i) {
  return values.size() == 1 ? values[0] : values[i];
}

// Attributes of a file may be any numbers.
constexpr const char* kTooLarge = "a convolution counts beyond 64 bits";
std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  TORCH_CHECK(!__builtin_mul_overflow(a, b, &result), kTooLarge);
  return result;
}
std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  TORCH_CHECK(!__builtin_add_overflow(a, b, &result), kTooLarge);
  return result;
}

std::vector<std::int64_t> convolved_sizes(const Tensor& input, const Tensor& weight,
                                          IntArrayRef stride, IntArrayRef padding,
                                          IntArrayRef dilation, bool transposed,
                                          IntArrayRef output_padding, std::int64_t groups) {
  std::vector<std::int64_t> sizes = {input.size(0),
                                     transposed ? product(weight.size(1), groups) : weight.size(0)};
  for (std::int64_t axis = 2; axis < input.dim(); ++axis) {
    const auto i = static_cast<std::size_t>(axis - 2);
    const std::int64_t reach = product(at_or_only(dilation, i), weight.size(axis) - 1);
    const std::int64_t pad = product(2, at_or_only(padding, i));
    const std::int64_t step = at_or_only(stride, i);
    TORCH_CHECK(step > 0, "a convolution's stride must be at least 1");
    const std::int64_t size =
        transposed ? sum(sum(product(input.size(axis) - 1, step), sum(reach, product(-1, pad))),
                         sum(at_or_only(output_padding, i), 1))
                   : sum(sum(input.size(axis), pad), sum(-1, product(-1, reach))) / step + 1;
    TORCH_CHECK(size > 0, "a convolution's input is smaller than its kernel");
    sizes.push_back(size);
  }
  return sizes;
}

Tensor convolution(const Tensor& input, const Tensor& weight, const optional<Tensor>&,
                   IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
                   IntArrayRef output_padding, std::int64_t groups) {
  TORCH_CHECK(input.dim() == weight.dim() && input.dim() >= 3,
              "a convolution's input and weight must have as many axes as each other");
  const std::int64_t channels = transposed ? weight.size(0) : product(weight.size(1), groups);
  TORCH_CHECK(input.size(1) == channels, "a convolution of ", channels, " channels got ",
              input.size(1));
  return sized(
      convolved_sizes(input, weight, stride, padding, dilation, transposed, output_padding, groups),
      input);
}

Three convolution_backward(const Tensor&, const Tensor& input, const Tensor& weight,
                           at::OptionalIntArrayRef bias_sizes, IntArrayRef, IntArrayRef,
                           IntArrayRef, bool, IntArrayRef, std::int64_t,
                           std::array<bool, 3> wanted) {
  const bool has_bias = wanted[2] && bias_sizes.has_value();
  return {like_if(wanted[0], input), like_if(wanted[1], weight),
          has_bias ? sized(*bias_sizes, weight) : Tensor()};
}

Three native_batch_norm(const Tensor& input, const optional<Tensor>&, const optional<Tensor>&,
                        const optional<Tensor>&, const optional<Tensor>&, bool training, double,
                        double) {
  const std::int64_t kept = training ? input.size(1) : 0;
  return {like(input), floats({kept}, input), floats({kept}, input)};
}

Three native_batch_norm_backward(const Tensor&, const Tensor& input, const optional<Tensor>& weight,
                                 const optional<Tensor>&, const optional<Tensor>&,
                                 const optional<Tensor>&, const optional<Tensor>&, bool, double,
                                 std::array<bool, 3> wanted) {
  const Tensor channels = weight && weight->defined() ? *weight : floats({input.size(1)}, input);
  return {like_if(wanted[0], input), like_if(wanted[1], channels), like_if(wanted[2], channels)};
}

// The reserve is empty where cuDNN uses none, as in the recorded steps of the H200.
Four cudnn_batch_norm(const Tensor& input, const Tensor& weight, const optional<Tensor>&,
                      const optional<Tensor>&, const optional<Tensor>&, bool training, double,
                      double) {
  const std::int64_t kept = training ? input.size(1) : 0;
  return {like(input), sized({kept}, weight), sized({kept}, weight),
          at::empty({0}, input.options().dtype(at::kByte))};
}

Three cudnn_batch_norm_backward(const Tensor& input, const Tensor&, const Tensor& weight,
                                const optional<Tensor>&, const optional<Tensor>&,
                                const optional<Tensor>&, const optional<Tensor>&, double,
                                const Tensor&) {
  return {like(input), like(weight), like(weight)};
}

Three native_layer_norm(const Tensor& input, IntArrayRef normalized, const optional<Tensor>&,
                        const optional<Tensor>&, double) {
  TORCH_CHECK(input.dim() >= static_cast<std::int64_t>(normalized.size()),
              "a layer norm has more axes than its input");
  std::vector<std::int64_t> outer = input.sizes().vec();
  for (std::size_t i = outer.size() - normalized.size(); i < outer.size(); ++i) outer[i] = 1;
  return {like(input), floats(outer, input), floats(outer, input)};
}

Three native_layer_norm_backward(const Tensor&, const Tensor& input, IntArrayRef, const Tensor&,
                                 const Tensor&, const optional<Tensor>& weight,
                                 const optional<Tensor>& bias, std::array<bool, 3> wanted) {
  const bool has_weight = wanted[1] && weight && weight->defined();
  const bool has_bias = wanted[2] && bias && bias->defined();
  return {like_if(wanted[0], input), has_weight ? like(*weight) : Tensor(),
          has_bias ? like(*bias) : Tensor()};
}

Three native_group_norm(const Tensor& input, const optional<Tensor>&, const optional<Tensor>&,
                        std::int64_t pictures, std::int64_t, std::int64_t, std::int64_t groups,
                        double) {
  return {like(input), sized({pictures, groups}, input), sized({pictures, groups}, input)};
}

Three native_group_norm_backward(const Tensor&, const Tensor& input, const Tensor&, const Tensor&,
                                 const optional<Tensor>& weight, std::int64_t,
                                 std::int64_t channels, std::int64_t, std::int64_t,
                                 std::array<bool, 3> wanted) {
  const Tensor channel = weight && weight->defined() ? *weight : sized({channels}, input);
  return {like_if(wanted[0], input), like_if(wanted[1], channel), like_if(wanted[2], channel)};
}

Tensor embedding(const Tensor& weight, const Tensor& indices, std::int64_t, bool, bool) {
  std::vector<std::int64_t> sizes = indices.sizes().vec();
  sizes.push_back(weight.size(1));
  return sized(sizes, weight);
}

Tensor index_select(const Tensor& input, std::int64_t axis, const Tensor& indices) {
  std::vector<std::int64_t> sizes = input.sizes().vec();
  if (!sizes.empty())
    sizes[static_cast<std::size_t>(at::maybe_wrap_dim(axis, input.dim()))] = indices.numel();
  return sized(sizes, input);
}

Tensor embedding_dense_backward(const Tensor& gradient, const Tensor&, std::int64_t rows,
                                std::int64_t, bool) {
  return sized({rows, gradient.size(-1)}, gradient);
}

Two native_dropout(const Tensor& input, double, optional<bool>) {
  return {like(input), at::empty(input.sizes(), input.options().dtype(at::kBool))};
}

Tensor native_dropout_backward(const Tensor& gradient, const Tensor&, double) {
  return like(gradient);
}

Tensor adaptive_avg_pool2d(const Tensor& input, IntArrayRef sizes) {
  std::vector<std::int64_t> pooled = input.sizes().vec();
  TORCH_CHECK(pooled.size() >= 3 && sizes.size() == 2, "adaptive pooling wants pictures");
  std::copy(sizes.begin(), sizes.end(), pooled.end() - 2);
  return sized(pooled, input);
}

Tensor adaptive_avg_pool2d_backward(const Tensor&, const Tensor& input) { return like(input); }

Two nll_loss2d_forward(const Tensor& scores, const Tensor& target, const optional<Tensor>&,
                       std::int64_t reduction, std::int64_t) {
  constexpr std::int64_t kNone = 0;
  return {reduction == kNone ? sized(target.sizes(), scores) : sized({}, scores),
          sized({}, scores)};
}

Tensor nll_loss2d_backward(const Tensor&, const Tensor& scores, const Tensor&,
                           const optional<Tensor>&, std::int64_t, std::int64_t, const Tensor&) {
  return like(scores);
}

Tensor relu(const Tensor& input) { return like(input); }

Tensor hardtanh_backward(const Tensor&, const Tensor& input, const at::Scalar&, const at::Scalar&) {
  return like(input);
}

Tensor safe_softmax(const Tensor& input, std::int64_t, optional<at::ScalarType> type) {
  return type ? like(input.to(*type)) : like(input);
}

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  const auto sizes = at::infer_size(condition.sizes(), at::infer_size(a.sizes(), b.sizes()));
  return at::empty(sizes, a.options().dtype(at::result_type(a, b)));
}

TORCH_LIBRARY_IMPL(aten, Meta, library) {
  library.impl("_safe_softmax", TORCH_FN(safe_softmax));
  library.impl("where.self", TORCH_FN(where));
  library.impl("relu", TORCH_FN(relu));
  library.impl("hardtanh_backward", TORCH_FN(hardtanh_backward));
  library.impl("convolution", TORCH_FN(convolution));
  library.impl("convolution_backward", TORCH_FN(convolution_backward));
  library.impl("native_batch_norm", TORCH_FN(native_batch_norm));
  library.impl("native_batch_norm_backward", TORCH_FN(native_batch_norm_backward));
  library.impl("cudnn_batch_norm", TORCH_FN(cudnn_batch_norm));
  library.impl("cudnn_batch_norm_backward", TORCH_FN(cudnn_batch_norm_backward));
  library.impl("native_layer_norm", TORCH_FN(native_layer_norm));
  library.impl("native_layer_norm_backward", TORCH_FN(native_layer_norm_backward));
  library.impl("native_group_norm", TORCH_FN(native_group_norm));
  library.impl("native_group_norm_backward", TORCH_FN(native_group_norm_backward));
  library.impl("embedding", TORCH_FN(embedding));
  library.impl("index_select", TORCH_FN(index_select));
  library.impl("embedding_dense_backward", TORCH_FN(embedding_dense_backward));
  library.impl("native_dropout", TORCH_FN(native_dropout));
  library.impl("native_dropout_backward", TORCH_FN(native_dropout_backward));
  library.impl("_adaptive_avg_pool2d", TORCH_FN(adaptive_avg_pool2d));
  library.impl("_adaptive_avg_pool2d_backward", TORCH_FN(adaptive_avg_pool2d_backward));
  library.impl("nll_loss2d_forward", TORCH_FN(nll_loss2d_forward));
  library.impl("nll_loss2d_backward", TORCH_FN(nll_loss2d_backward));
}

}  // namespace
}  // namespace lowtide::estimate
