// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/settings.h"

#include <array>
#include <cstddef>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <c10/core/AutogradState.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/ScalarTypeToTypeMeta.h>

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
  kDeterministicMkldnn = 1 << 12,
  kFlushDenormals = 1 << 13,
};

// Whether this thread takes numbers next to zero for zero. Torch does not tell.
bool flushes_denormals() {
#if defined(__x86_64__)
  return _MM_GET_FLUSH_ZERO_MODE() == _MM_FLUSH_ZERO_ON;
#else
  return false;
#endif
}

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
  add(context.deterministicMkldnn(), kDeterministicMkldnn);
  add(flushes_denormals(), kFlushDenormals);
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
  context.setDeterministicMkldnn(on(kDeterministicMkldnn));
  if (on(kFlushDenormals) != flushes_denormals()) {
    at::Context::setFlushDenormal(on(kFlushDenormals));
  }
}

using at::Float32Backend;
using at::Float32Op;
using at::Float32Precision;

constexpr std::array kFloat32Ops = {Float32Op::MATMUL, Float32Op::CONV, Float32Op::RNN};

Float32Backend float32_backend(PrecisionsOf backend) {
  return backend == PrecisionsOf::kCuda ? Float32Backend::CUDA : Float32Backend::MKLDNN;
}

Precisions precisions_now(PrecisionsOf backend) {
  Precisions now{.backend = backend};
  if (backend == PrecisionsOf::kNone) return now;
  const at::Context& context = at::globalContext();
  for (std::size_t i = 0; i < kFloat32Ops.size(); ++i) {
    now.float32[i] = context.float32Precision(float32_backend(backend), kFloat32Ops[i]);
  }
  now.attention_reduces_in_16_bits = context.allowFP16BF16ReductionMathSDP();
  if (backend == PrecisionsOf::kCpu) {
    now.float16_reduction = context.allowFP16ReductionCPU() ? 1 : 0;
    return now;
  }
  now.float16_reduction = static_cast<std::uint8_t>(context.allowFP16ReductionCuBLAS());
  now.bfloat16_reduction = static_cast<std::uint8_t>(context.allowBF16ReductionCuBLAS());
  now.float16_accumulation = context.allowFP16AccumulationCuBLAS();
  return now;
}

// As torch's setters have them: whether sums may be rounded, and whether they may be split.
bool may_round(std::uint8_t reduction) {
  return reduction ==
         static_cast<std::uint8_t>(at::CuBLASReductionOption::AllowReducedPrecisionWithSplitK);
}
bool may_split(std::uint8_t reduction) {
  return reduction != static_cast<std::uint8_t>(
                          at::CuBLASReductionOption::DisallowReducedPrecisionDisallowSplitK);
}

// Torch does not tell whether a precision was written down or follows another one, so that one is
// another for a moment.
bool is_inherited(Float32Backend backend, Float32Op op) {
  at::Context& context = at::globalContext();
  const bool is_of_all = op == Float32Op::ALL;
  const Float32Backend parent = is_of_all ? Float32Backend::GENERIC : backend;
  const Float32Precision precision = context.float32Precision(backend, op);
  if (context.float32Precision(parent, Float32Op::ALL) != precision) return false;
  const bool is_parent_inherited = !is_of_all && is_inherited(backend, Float32Op::ALL);
  const bool is_ieee = precision == Float32Precision::IEEE;
  context.setFloat32Precision(parent, Float32Op::ALL,
                              is_ieee ? Float32Precision::TF32 : Float32Precision::IEEE);
  const bool follows = context.float32Precision(backend, op) != precision;
  context.setFloat32Precision(parent, Float32Op::ALL,
                              is_parent_inherited ? Float32Precision::NONE : precision);
  return follows;
}

// Of those that are about to be changed.
std::array<bool, 3> inherited_precisions(const Precisions& from, const Precisions& to) {
  std::array<bool, 3> are_inherited{};
  for (std::size_t i = 0; i < kFloat32Ops.size(); ++i) {
    are_inherited[i] = to.backend != PrecisionsOf::kNone && from.float32[i] != to.float32[i] &&
                       is_inherited(float32_backend(to.backend), kFloat32Ops[i]);
  }
  return are_inherited;
}

void let_inherit(PrecisionsOf backend, const std::array<bool, 3>& are_to_inherit) {
  for (std::size_t i = 0; i < kFloat32Ops.size(); ++i) {
    if (!are_to_inherit[i]) continue;
    at::globalContext().setFloat32Precision(float32_backend(backend), kFloat32Ops[i],
                                            Float32Precision::NONE);
  }
}

// Only what differs: what is written down no longer follows the setting that it was inherited from.
void change_precisions(const Precisions& from, const Precisions& to) {
  at::Context& context = at::globalContext();
  for (std::size_t i = 0; i < kFloat32Ops.size(); ++i) {
    if (from.float32[i] == to.float32[i]) continue;
    context.setFloat32Precision(float32_backend(to.backend), kFloat32Ops[i], to.float32[i]);
  }
  if (from.attention_reduces_in_16_bits != to.attention_reduces_in_16_bits) {
    context.setAllowFP16BF16ReductionMathSDP(to.attention_reduces_in_16_bits);
  }
  if (to.backend == PrecisionsOf::kCpu) {
    // Where the processor cannot, torch refuses to be asked for it.
    if (from.float16_reduction != to.float16_reduction) {
      context.setAllowFP16ReductionCPU(to.float16_reduction != 0);
    }
    return;
  }
  if (from.float16_reduction != to.float16_reduction) {
    context.setAllowFP16ReductionCuBLAS(may_round(to.float16_reduction),
                                        may_split(to.float16_reduction));
  }
  if (from.bfloat16_reduction != to.bfloat16_reduction) {
    context.setAllowBF16ReductionCuBLAS(may_round(to.bfloat16_reduction),
                                        may_split(to.bfloat16_reduction));
  }
  if (from.float16_accumulation != to.float16_accumulation) {
    context.setAllowFP16AccumulationCuBLAS(to.float16_accumulation);
  }
}

Float32Precision cuda_matmul(const Settings& settings) { return settings.precisions.float32[0]; }

// Torch's older switch for matrix products stands beside the precisions, and kernels of a GPU that
// ask for it throw where the two say different things. Nothing: they do already, by the program's
// own doing, or the precisions of a GPU stay what they are.
std::optional<at::Float32MatmulPrecision> older_to_be_changed(const Settings& from,
                                                              const Settings& to) {
  const bool is_cuda = to.precisions.backend == PrecisionsOf::kCuda;
  if (!is_cuda || cuda_matmul(from) == cuda_matmul(to)) return std::nullopt;
  try {
    static_cast<void>(at::globalContext().allowTF32CuBLAS());
    return at::globalContext().float32MatmulPrecision();
  } catch (const c10::Error&) {
    return std::nullopt;
  }
}

// Also changes the precisions that it stands for; to be called before these are.
void set_older(at::Float32MatmulPrecision precision) {
  at::Context& context = at::globalContext();
  if (precision == at::Float32MatmulPrecision::MEDIUM) {
    context.setFloat32MatmulPrecision("medium");
  } else {
    // This way the precisions of the CPU stay what they are.
    context.setAllowTF32CuBLAS(precision == at::Float32MatmulPrecision::HIGH);
  }
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
  if (from.default_type != to.default_type) {
    c10::set_default_dtype(c10::scalarTypeToTypeMeta(static_cast<at::ScalarType>(to.default_type)));
  }
  if (to.precisions.backend != PrecisionsOf::kNone) {
    change_precisions(from.precisions, to.precisions);
  }
}

c10::impl::LocalDispatchKeySet local_keys(const Settings& settings) {
  c10::impl::LocalDispatchKeySet keys = c10::impl::tls_local_dispatch_key_set();
  keys.included_ = c10::DispatchKeySet(c10::DispatchKeySet::RAW, settings.included_keys);
  keys.excluded_ = c10::DispatchKeySet(c10::DispatchKeySet::RAW, settings.excluded_keys);
  return keys;
}

}  // namespace

Settings Settings::now(PrecisionsOf backend) {
  const c10::impl::LocalDispatchKeySet keys = c10::impl::tls_local_dispatch_key_set();
  return {
      .included_keys = keys.included_.raw_repr(),
      .excluded_keys = keys.excluded_.raw_repr(),
      .threads = at::get_num_threads(),
      .cpu_autocast_type = static_cast<std::int16_t>(at::autocast::get_autocast_dtype(at::kCPU)),
      .cuda_autocast_type = static_cast<std::int16_t>(at::autocast::get_autocast_dtype(at::kCUDA)),
      .default_type = static_cast<std::int16_t>(c10::get_default_dtype_as_scalartype()),
      .switches = switches_now(),
      .precisions = precisions_now(backend),
  };
}

SettingsP current_settings(PrecisionsOf backend) {
  // Ops with and without precisions take turns.
  thread_local std::array<SettingsP, 2> last_of_kind;
  SettingsP& last = last_of_kind[backend == PrecisionsOf::kNone ? 0 : 1];
  const Settings now = Settings::now(backend);
  if (!last || *last != now) last = std::make_shared<const Settings>(now);
  return last;
}

SettingsGuard::SettingsGuard(const Settings& settings)
    : before_(Settings::now(settings.precisions.backend)), differs_(before_ != settings) {
  if (!differs_) return;
  are_inherited_ = inherited_precisions(before_.precisions, settings.precisions);
  older_before_ = older_to_be_changed(before_, settings);
  if (older_before_) {
    const bool is_rounded = cuda_matmul(settings) == Float32Precision::TF32;
    set_older(is_rounded ? at::Float32MatmulPrecision::HIGH : at::Float32MatmulPrecision::HIGHEST);
  }
  change(before_, settings);
  c10::impl::_force_tls_local_dispatch_key_set(local_keys(settings));
}

SettingsGuard::~SettingsGuard() {
  if (!differs_) return;
  if (older_before_) set_older(*older_before_);
  change(Settings::now(before_.precisions.backend), before_);
  let_inherit(before_.precisions.backend, are_inherited_);
  c10::impl::_force_tls_local_dispatch_key_set(local_keys(before_));
}

}  // namespace lowtide::run
