// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/numerics.h"

#include <cstdlib>

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <c10/util/Logging.h>
#ifdef LOWTIDE_HAS_CUDA
#include <ATen/cuda/CUDAContextLight.h>
#endif

namespace lowtide::train {
namespace {

constexpr const char* kCublasSetting = "CUBLAS_WORKSPACE_CONFIG";
// As torch counts the levels of its log.
constexpr int kErrorsOnly = 2;

// Torch looks for the setting in the first product and remembers that it was there; but it also
// reads it anew in every product, with a regular expression that takes some 30 us to make, which is
// a fifth of the host's time in a step of GPT-2. Its workspace has a size of its own without the
// setting, so the one that is there must not be used any longer.
void have_cublas_setting_noticed(c10::Device device) {
  const at::Tensor square = at::ones({8, 8}, at::TensorOptions(device));
  static_cast<void>(at::mm(square, square));
  ::unsetenv(kCublasSetting);
#ifdef LOWTIDE_HAS_CUDA
  at::cuda::clearCublasWorkspaces();
#endif
}

}  // namespace

void make_deterministic(zoo::InputKind kind, c10::Device device) {
  // cuBLAS repeats itself only with a workspace of fixed size; a user's choice stands.
  const bool is_set_by_user = std::getenv(kCublasSetting) != nullptr;
  ::setenv(kCublasSetting, ":4096:8", /*overwrite=*/0);
  at::Context& context = at::globalContext();
  // Max pooling's backward has atomic sums in one of its layouts, which is not the one used here,
  // and refuses to run at all unless this only warns. Attention's, on the other hand, sums in a
  // fixed order only if it does not.
  const bool only_warns = kind == zoo::InputKind::kPictures;
  context.setDeterministicAlgorithms(true, only_warns);
  // It would do so in each step.
  if (only_warns) FLAGS_caffe2_log_level = kErrorsOnly;
  context.setDeterministicFillUninitializedMemory(false);
  context.setDeterministicCuDNN(true);
  // Each thread would choose kernels for itself, by how long they took.
  context.setBenchmarkCuDNN(false);
  if (device.is_cuda() && !is_set_by_user) have_cublas_setting_noticed(device);
}

Bf16Autocast::Bf16Autocast(c10::DeviceType device) : device_(device) {
  at::autocast::set_autocast_enabled(device_, true);
  at::autocast::set_autocast_dtype(device_, at::kBFloat16);
  at::autocast::increment_nesting();
}

Bf16Autocast::~Bf16Autocast() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, false);
}

}  // namespace lowtide::train
