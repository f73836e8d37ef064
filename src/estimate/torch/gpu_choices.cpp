// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/torch/gpu_choices.h"

#include <optional>

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

namespace lowtide::estimate {
namespace {

using at::Tensor;
using std::optional;

// Above autograd and above autocast for the CPU; torch keeps it for a device that it has nothing
// for.
constexpr c10::DispatchKey kKey = c10::DispatchKey::AutocastIPU;

using Once = c10::impl::ExcludeDispatchKeyGuard;

Tensor dropout(const Tensor& input, double share, bool is_training) {
  const Once once(kKey);
  if (share == 0 || !is_training || input.numel() == 0) {
    return at::dropout(input, share, is_training);
  }
  return std::get<0>(at::native_dropout(input, share, is_training));
}

Tensor batch_norm(const Tensor& input, const optional<Tensor>& weight, const optional<Tensor>& bias,
                  const optional<Tensor>& mean, const optional<Tensor>& variance, bool is_training,
                  double momentum, double eps, bool is_cudnn_enabled) {
  const Once once(kKey);
  // What torch asks before it calls cuDNN (_batch_norm_impl_index).
  const bool has_all = weight && weight->defined() && bias && bias->defined();
  if (!has_all || !is_training || !is_cudnn_enabled) {
    return at::batch_norm(input, weight, bias, mean, variance, is_training, momentum, eps,
                          is_cudnn_enabled);
  }
  return std::get<0>(
      at::cudnn_batch_norm(input, *weight, bias, mean, variance, is_training, momentum, eps));
}

// On Hopper: cuDNN's for 16 bits, the memory-efficient one for floats.
Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value,
                 const optional<Tensor>& mask, double dropout, bool is_causal,
                 optional<double> scale, bool enable_gqa) {
  const Once once(kKey);
  const bool is_plain = query.dim() == 4 && !enable_gqa;
  if (!is_plain) {
    return at::scaled_dot_product_attention(query, key, value, mask, dropout, is_causal, scale,
                                            enable_gqa);
  }
  const bool casts = at::autocast::is_autocast_enabled(at::kCPU);
  const auto cast = [&](const Tensor& tensor) {
    return casts ? tensor.to(at::autocast::get_autocast_dtype(at::kCPU)) : tensor;
  };
  const Tensor q = cast(query), k = cast(key), v = cast(value);
  const bool is_trained = q.requires_grad() || k.requires_grad() || v.requires_grad();
  const bool is_short = q.scalar_type() == at::kBFloat16 || q.scalar_type() == at::kHalf;
  if (is_short) {
    return std::get<0>(at::_scaled_dot_product_cudnn_attention(q, k, v, mask, is_trained, dropout,
                                                               is_causal, false, scale));
  }
  return std::get<0>(at::_scaled_dot_product_efficient_attention(q, k, v, mask, is_trained, dropout,
                                                                 is_causal, scale));
}

// Autocast on a GPU has these in float32, on a CPU not; a softmax with a type of its own keeps it.
Tensor in_floats(const Tensor& tensor) {
  return at::autocast::is_autocast_enabled(at::kCPU) ? tensor.to(at::kFloat) : tensor;
}

Tensor layer_norm(const Tensor& input, at::IntArrayRef shape, const optional<Tensor>& weight,
                  const optional<Tensor>& bias, double eps, bool is_cudnn_enabled) {
  const Once once(kKey);
  return at::layer_norm(in_floats(input), shape, weight, bias, eps, is_cudnn_enabled);
}

Tensor log_softmax(const Tensor& input, std::int64_t axis, optional<at::ScalarType> type) {
  const Once once(kKey);
  return at::log_softmax(type ? input : in_floats(input), axis, type);
}

Tensor softmax(const Tensor& input, std::int64_t axis, optional<at::ScalarType> type) {
  const Once once(kKey);
  return at::softmax(type ? input : in_floats(input), axis, type);
}

// On a GPU the softmax stays in 16 bits and only the loss is computed in floats.
Tensor cross_entropy_loss(const Tensor& scores, const Tensor& targets,
                          const optional<Tensor>& weight, std::int64_t reduction,
                          std::int64_t ignored, double smoothing) {
  const Once once(kKey);
  const bool is_plain = scores.dim() > 1 && !targets.is_floating_point() && smoothing == 0;
  if (!is_plain || !at::autocast::is_autocast_enabled(at::kCPU)) {
    return at::cross_entropy_loss(scores, targets, weight, reduction, ignored, smoothing);
  }
  const Tensor logarithms = at::log_softmax(scores, 1, scores.scalar_type());
  return at::nll_loss_nd(in_floats(logarithms), targets, weight, reduction, ignored);
}

TORCH_LIBRARY_IMPL(_, AutocastIPU, library) {
  library.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, AutocastIPU, library) {
  library.impl("dropout", TORCH_FN(dropout));
  library.impl("batch_norm", TORCH_FN(batch_norm));
  library.impl("scaled_dot_product_attention", TORCH_FN(attention));
  library.impl("layer_norm", TORCH_FN(layer_norm));
  library.impl("log_softmax.int", TORCH_FN(log_softmax));
  library.impl("cross_entropy_loss", TORCH_FN(cross_entropy_loss));
  library.impl("softmax.int", TORCH_FN(softmax));
}

}  // namespace

// Threads begin with the keys of autocast excluded.
GpuChoices::GpuChoices() {
  c10::impl::tls_set_dispatch_key_excluded(kKey, false);
  c10::impl::tls_set_dispatch_key_included(kKey, true);
}

GpuChoices::~GpuChoices() {
  c10::impl::tls_set_dispatch_key_included(kKey, false);
  c10::impl::tls_set_dispatch_key_excluded(kKey, true);
}

}  // namespace lowtide::estimate
