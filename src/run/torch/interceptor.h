// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "lowtide/errors.h"

namespace lowtide::run {

class Runtime;

// The one door to torch's dispatcher: a fallback for every operator on a key right below autograd.
// It is there as soon as the library is loaded, and does nothing until a thread switches it on.
// Frequent operators come in by a door of their own, without their arguments in boxes: quick_op.h.

// A key that torch reserves for libraries outside its tree: above the backends and Python, below
// autograd, autocast and functorch.
inline constexpr c10::DispatchKey kOurKey = c10::DispatchKey::Fake;
inline constexpr c10::DispatchKeySet kBelowUs(c10::DispatchKeySet::FULL_AFTER, kOurKey);

// What the fallback does.
void intercept(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);

// What it says, begun as torch's allocator of the active runtime's device begins its messages:
// programs that look for a batch that fits know an error by these words.
std::string describe_as_torch(const OutOfMemory& error);
// OutOfMemory leaves ops as torch's own error, c10::OutOfMemoryError, which Python's users know as
// torch.OutOfMemoryError. Off at first: users of C++ get ours.
void translate_errors(bool translate);
// Rethrows the OutOfMemory that is being handled, translated if that is wanted.
[[noreturn]] void rethrow_for_user();

// All intercepted ops go to this runtime; null: they pass.
void set_active_runtime(Runtime* runtime);
Runtime* active_runtime();

// Whether what the ops of this thread make stays on the device for good: it is for code that will
// use it around the dispatcher. Gives what was the case before.
bool keep_what_is_made(bool keep);
bool is_keeping_what_is_made();

// Whether the ops of this thread are intercepted. Autograd's threads take it over from the thread
// that calls backward().
void set_thread_managed(bool managed);
bool is_thread_managed();

}  // namespace lowtide::run
