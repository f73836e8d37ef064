// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/torch/gpu_choices.h"

#include <optional>
#include <tuple>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

namespace lowtide::estimate {
namespace {

using at::Tensor;
using std::optional;
using Three = std::tuple<Tensor, Tensor, Tensor>;

// Above autograd and above autocast for the CPU; torch keeps it for a device that it has nothing
// for.
constexpr c10::DispatchKey kKey = c10::DispatchKey::AutocastIPU;

using Once = c10::impl::ExcludeDispatchKeyGuard;

Architecture gpu_now;

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

// What attention is called with.
struct Attention {
  const Tensor &query, &key, &value;
  const optional<Tensor>& mask;
  double dropout = 0;
  bool is_causal = false;
  optional<double> scale;

  bool is_trained() const {
    return query.requires_grad() || key.requires_grad() || value.requires_grad();
  }
  bool has_mask() const { return mask && mask->defined(); }
};

Tensor by_cudnn(const Attention& it) {
  return std::get<0>(at::_scaled_dot_product_cudnn_attention(it.query, it.key, it.value, it.mask,
                                                             it.is_trained(), it.dropout,
                                                             it.is_causal, false, it.scale));
}

Tensor by_flash(const Attention& it) {
  return std::get<0>(at::_scaled_dot_product_flash_attention(
      it.query, it.key, it.value, it.dropout, it.is_causal, /*return_debug_mask=*/false, it.scale));
}

Tensor efficiently(const Attention& it) {
  return std::get<0>(at::_scaled_dot_product_efficient_attention(
      it.query, it.key, it.value, it.mask, it.is_trained(), it.dropout, it.is_causal, it.scale));
}

Tensor step_by_step(const Attention& it) {
  return std::get<0>(at::_scaled_dot_product_attention_math(
      it.query, it.key, it.value, it.mask, it.dropout, it.is_causal, {}, it.scale));
}

// As torch asks its kernels one by one (sdp_utils.cpp): in 16 bits cuDNN's come first on Hopper and
// FlashAttention's on Ampere and Ada, but these know no mask; the memory-efficient ones have no
// bfloat16 before Ampere.
Tensor chosen_attention(const Attention& it, const Architecture& gpu) {
  constexpr int kHopper = 90, kAmpere = 80;
  const bool is_bf16 = it.query.scalar_type() == at::kBFloat16;
  const bool is_short = is_bf16 || it.query.scalar_type() == at::kHalf;
  if (is_short && gpu.capability >= kHopper) return by_cudnn(it);
  if (is_short && gpu.capability >= kAmpere && !it.has_mask()) return by_flash(it);
  if (is_bf16 && !gpu.multiplies_bf16()) return step_by_step(it);
  return efficiently(it);
}

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
  return chosen_attention({q, k, v, mask, dropout, is_causal, scale}, gpu_now);
}

// All layers by cuDNN, unless there are projections.
Three lstm(const Tensor& input, at::TensorList states, at::TensorList weights, bool has_biases,
           std::int64_t layers, double dropout, bool is_training, bool goes_both_ways,
           bool is_batch_first) {
  const Once once(kKey);
  constexpr std::int64_t kLstm = 2, kWeights = 2, kWithBiases = 4;
  if (states[0].size(-1) != states[1].size(-1)) {
    return at::lstm(input, states, weights, has_biases, layers, dropout, is_training,
                    goes_both_ways, is_batch_first);
  }
  const bool casts = at::autocast::is_autocast_enabled(at::kCPU);
  const auto cast = [&](const Tensor& tensor) {
    return casts ? tensor.to(at::autocast::get_autocast_dtype(at::kCPU)) : tensor;
  };
  std::vector<Tensor> cast_weights;
  for (const Tensor& weight : weights) cast_weights.push_back(cast(weight));
  const auto made =
      at::_cudnn_rnn(cast(input), cast_weights, has_biases ? kWithBiases : kWeights, {},
                     cast(states[0]), cast(states[1]), kLstm, states[1].size(-1), 0, layers,
                     is_batch_first, dropout, is_training, goes_both_ways, {}, {});
  return {std::get<0>(made), std::get<1>(made), std::get<2>(made)};
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
  library.impl("lstm.input", TORCH_FN(lstm));
  library.impl("layer_norm", TORCH_FN(layer_norm));
  library.impl("log_softmax.int", TORCH_FN(log_softmax));
  library.impl("cross_entropy_loss", TORCH_FN(cross_entropy_loss));
  library.impl("softmax.int", TORCH_FN(softmax));
}

}  // namespace

// Threads begin with the keys of autocast excluded.
GpuChoices::GpuChoices(const Architecture& gpu) {
  gpu_now = gpu;
  c10::impl::tls_set_dispatch_key_excluded(kKey, false);
  c10::impl::tls_set_dispatch_key_included(kKey, true);
}

GpuChoices::~GpuChoices() {
  c10::impl::tls_set_dispatch_key_included(kKey, false);
  c10::impl::tls_set_dispatch_key_excluded(kKey, true);
}

}  // namespace lowtide::estimate
