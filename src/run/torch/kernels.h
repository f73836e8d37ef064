// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace lowtide::run {

// What carries watched ops out in place of torch's kernels, for those who only ask what ops would
// allocate (estimate/torch). It takes the arguments from the stack and leaves the results there.
using Kernels = void (*)(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                         torch::jit::Stack& stack);

// For all ops that are watched from here on. Null: torch's own. Not while ops are under way.
void set_kernels(Kernels kernels);

// Carries out one op, right below our key.
void run_kernel(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack& stack);

}  // namespace lowtide::run
