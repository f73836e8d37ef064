// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/kernels.h"

#include <atomic>

namespace lowtide::run {
namespace {

// Relaxed: it is set before the ops begin that are to see it, by the thread that begins them.
std::atomic<Kernels> substitute{nullptr};

}  // namespace

void set_kernels(Kernels kernels) { substitute.store(kernels, std::memory_order_relaxed); }

void run_kernel(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack& stack) {
  if (const Kernels kernels = substitute.load(std::memory_order_relaxed)) {
    kernels(op, keys, stack);
  } else {
    op.redispatchBoxed(keys, &stack);
  }
}

}  // namespace lowtide::run
