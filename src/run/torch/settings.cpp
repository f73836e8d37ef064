// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/settings.h"

#include <array>

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <c10/core/AutogradState.h>

namespace lowtide::run {
namespace {

enum Switch : std::uint16_t {
  kDeterministic = 1 << 0,
  kDeterministicWarnOnly = 1 << 1,
  kDeterministicCudnn = 1 << 2,
  kBenchmarkCudnn = 1 << 3,
  kCudnn = 1 << 4,
  kMkldnn = 1 << 5,
  kFlashAttention = 1 << 6,
  kMemoryEfficientAttention = 1 << 7,
  kMathAttention = 1 << 8,
  kCudnnAttention = 1 << 9,
  kGradMode = 1 << 10,
  kInferenceMode = 1 << 11,
};

std::uint16_t switches_now() {
  const at::Context& context = at::globalContext();
  const c10::AutogradState& autograd = c10::AutogradState::get_tls_state();
  unsigned on = 0;
  const auto add = [&on](bool is_on, Switch which) {
    if (is_on) on |= which;
  };
  add(context.deterministicAlgorithms(), kDeterministic);
  add(context.deterministicAlgorithmsWarnOnly(), kDeterministicWarnOnly);
  add(context.deterministicCuDNN(), kDeterministicCudnn);
  add(context.benchmarkCuDNN(), kBenchmarkCudnn);
  add(context.userEnabledCuDNN(), kCudnn);
  add(context.userEnabledMkldnn(), kMkldnn);
  add(context.userEnabledFlashSDP(), kFlashAttention);
  add(context.userEnabledMemEfficientSDP(), kMemoryEfficientAttention);
  add(context.userEnabledMathSDP(), kMathAttention);
  add(context.userEnabledCuDNNSDP(), kCudnnAttention);
  add(autograd.get_grad_mode(), kGradMode);
  add(autograd.get_inference_mode(), kInferenceMode);
  return static_cast<std::uint16_t>(on);
}

void set_switches(std::uint16_t switches) {
  at::Context& context = at::globalContext();
  const auto on = [switches](Switch which) { return (switches & which) != 0; };
  context.setDeterministicAlgorithms(on(kDeterministic), on(kDeterministicWarnOnly));
  context.setDeterministicCuDNN(on(kDeterministicCudnn));
  context.setBenchmarkCuDNN(on(kBenchmarkCudnn));
  context.setUserEnabledCuDNN(on(kCudnn));
  context.setUserEnabledMkldnn(on(kMkldnn));
  context.setSDPUseFlash(on(kFlashAttention));
  context.setSDPUseMemEfficient(on(kMemoryEfficientAttention));
  context.setSDPUseMath(on(kMathAttention));
  context.setSDPUseCuDNN(on(kCudnnAttention));
  c10::AutogradState& autograd = c10::AutogradState::get_tls_state();
  autograd.set_grad_mode(on(kGradMode));
  autograd.set_inference_mode(on(kInferenceMode));
}

void set_precisions(const Settings& settings) {
  using at::Float32Backend;
  using at::Float32Op;
  at::Context& context = at::globalContext();
  context.setFloat32Precision(Float32Backend::CUDA, Float32Op::MATMUL,
                              settings.cuda_matmul_precision);
  context.setFloat32Precision(Float32Backend::CUDA, Float32Op::CONV, settings.cuda_conv_precision);
  context.setFloat32Precision(Float32Backend::MKLDNN, Float32Op::MATMUL,
                              settings.mkldnn_matmul_precision);
}

// Only what differs: most of these are one store, but the number of threads may start some.
void change(const Settings& from, const Settings& to) {
  if (from.switches != to.switches) set_switches(to.switches);
  if (from.threads != to.threads) at::set_num_threads(to.threads);
  if (from.cpu_autocast_type != to.cpu_autocast_type) {
    at::autocast::set_autocast_dtype(at::kCPU, static_cast<at::ScalarType>(to.cpu_autocast_type));
  }
  if (from.cuda_autocast_type != to.cuda_autocast_type) {
    at::autocast::set_autocast_dtype(at::kCUDA, static_cast<at::ScalarType>(to.cuda_autocast_type));
  }
  if (!to.has_precisions) return;
  if (from.cuda_matmul_precision != to.cuda_matmul_precision ||
      from.cuda_conv_precision != to.cuda_conv_precision ||
      from.mkldnn_matmul_precision != to.mkldnn_matmul_precision) {
    set_precisions(to);
  }
}

c10::impl::LocalDispatchKeySet local_keys(const Settings& settings) {
  c10::impl::LocalDispatchKeySet keys = c10::impl::tls_local_dispatch_key_set();
  keys.included_ = c10::DispatchKeySet(c10::DispatchKeySet::RAW, settings.included_keys);
  keys.excluded_ = c10::DispatchKeySet(c10::DispatchKeySet::RAW, settings.excluded_keys);
  return keys;
}

}  // namespace

Settings Settings::now(bool with_precisions) {
  using at::Float32Backend;
  using at::Float32Op;
  const c10::impl::LocalDispatchKeySet keys = c10::impl::tls_local_dispatch_key_set();
  Settings settings{
      .included_keys = keys.included_.raw_repr(),
      .excluded_keys = keys.excluded_.raw_repr(),
      .threads = at::get_num_threads(),
      .cpu_autocast_type = static_cast<std::int16_t>(at::autocast::get_autocast_dtype(at::kCPU)),
      .cuda_autocast_type = static_cast<std::int16_t>(at::autocast::get_autocast_dtype(at::kCUDA)),
      .switches = switches_now(),
  };
  if (with_precisions) {
    const at::Context& context = at::globalContext();
    settings.has_precisions = true;
    settings.cuda_matmul_precision =
        context.float32Precision(Float32Backend::CUDA, Float32Op::MATMUL);
    settings.cuda_conv_precision = context.float32Precision(Float32Backend::CUDA, Float32Op::CONV);
    settings.mkldnn_matmul_precision =
        context.float32Precision(Float32Backend::MKLDNN, Float32Op::MATMUL);
  }
  return settings;
}

SettingsP current_settings(bool with_precisions) {
  // Ops with and without precisions take turns.
  thread_local std::array<SettingsP, 2> last_of_kind;
  SettingsP& last = last_of_kind[with_precisions ? 1 : 0];
  const Settings now = Settings::now(with_precisions);
  if (!last || *last != now) last = std::make_shared<const Settings>(now);
  return last;
}

SettingsGuard::SettingsGuard(const Settings& settings)
    : before_(Settings::now(settings.has_precisions)), differs_(before_ != settings) {
  if (!differs_) return;
  change(before_, settings);
  c10::impl::_force_tls_local_dispatch_key_set(local_keys(settings));
}

SettingsGuard::~SettingsGuard() {
  if (!differs_) return;
  change(Settings::now(before_.has_precisions), before_);
  c10::impl::_force_tls_local_dispatch_key_set(local_keys(before_));
}

}  // namespace lowtide::run
