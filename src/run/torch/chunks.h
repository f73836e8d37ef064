// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "run/torch/effects.h"
#include "run/torch/runtime.h"

namespace lowtide::run {

// Carries out a multi-tensor op part by part when its lists take much of the budget: each entry of
// the lists is worked on by itself, so the bits are the same. False: nothing was done, the op
// should be called as a whole.
bool call_in_chunks(Runtime& runtime, const c10::OperatorHandle& op, const OpEffects& effects,
                    c10::DispatchKeySet keys, torch::jit::Stack& stack);

// Carries out a multi-tensor op as a whole; where that does not fit beside what must stay on the
// device, one half of its lists after the other, and so on.
void call_as_it_fits(Runtime& runtime, const c10::OperatorHandle& op, const OpEffects& effects,
                     c10::DispatchKeySet keys, torch::jit::Stack& stack);

}  // namespace lowtide::run
