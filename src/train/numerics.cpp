// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/numerics.h"

#include <cstdlib>

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>

namespace lowtide::train {

void make_deterministic(zoo::InputKind kind) {
  // cuBLAS repeats itself only with a workspace of fixed size; a user's choice stands.
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  at::Context& context = at::globalContext();
  // Max pooling's backward refuses to run unless this only warns; attention's sums in a fixed order
  // only if it does not.
  context.setDeterministicAlgorithms(true, /*warn_only=*/kind == zoo::InputKind::kPictures);
  context.setDeterministicFillUninitializedMemory(false);
  context.setDeterministicCuDNN(true);
  context.setBenchmarkCuDNN(false);
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
