// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/interceptor.h"

#include <atomic>
#include <string>
#include <utility>

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/SafePyObject.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/core/impl/PyInterpreter.h>
#include <c10/core/impl/PyInterpreterHooks.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <torch/library.h>

#include "base/check.h"
#include "lowtide/errors.h"
#include "run/torch/runtime.h"

namespace lowtide::run {
namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;

// Release and acquire: whoever sees the runtime sees it started.
std::atomic<Runtime*> active{nullptr};
// Relaxed: it goes with nothing else.
std::atomic<bool> is_translating{false};
thread_local bool keeps_what_is_made = false;

constexpr DispatchKeySet keys_above_python() {
  const DispatchKeySet python_and_below =
      DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::Python) |
      DispatchKeySet(DispatchKey::Python);
  return (DispatchKeySet(DispatchKeySet::FULL) ^ python_and_below).remove(kOurKey);
}

// The interpreter of the first argument that dispatches to Python; null if none does.
c10::impl::PyInterpreter* interpreter_of(const c10::IValue& argument) {
  if (argument.isTensor()) {
    c10::TensorImpl* impl = argument.unsafeToTensorImpl();
    // Every tensor's, from torch 2.11 on.
    return impl->is_python_dispatch() ? c10::impl::getGlobalPyInterpreter() : nullptr;
  }
  if (!argument.isList()) return nullptr;
  for (const c10::IValue& element : argument.toListRef()) {
    if (c10::impl::PyInterpreter* found = interpreter_of(element)) return found;
  }
  return nullptr;
}

// Modes and tensor subclasses (`__torch_dispatch__`): does what torch's own fallback for Python
// does, except that our key stays visible to the ops inside the handler. Those are what we manage;
// the outer op only shuffles Python objects.
void call_python(const c10::OperatorHandle& op, DispatchKeySet keys, torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard guard(keys_above_python());
  const std::int64_t modes = c10::impl::TorchDispatchModeTLS::stack_len();
  if (modes > 0) {
    const auto mode = c10::impl::TorchDispatchModeTLS::get_stack_at(modes - 1);
    mode->pyinterpreter()->dispatch(op, stack);
    return;
  }
  const std::size_t count = op.schema().arguments().size();
  for (std::size_t i = stack->size() - count; i < stack->size(); ++i) {
    if (c10::impl::PyInterpreter* interpreter = interpreter_of((*stack)[i])) {
      (*interpreter)->dispatch(op, stack);
      return;
    }
  }
  op.redispatchBoxed(keys & kBelowUs, stack);
}

}  // namespace

void intercept(const c10::OperatorHandle& op, DispatchKeySet keys, torch::jit::Stack* stack) {
  if (keys.has(DispatchKey::Python)) {
    call_python(op, keys, stack);
    return;
  }
  const c10::impl::ExcludeDispatchKeyGuard guard(kOurKey);
  Runtime* runtime = active.load(std::memory_order_acquire);
  if (runtime == nullptr) {
    op.redispatchBoxed(keys & kBelowUs, stack);
    return;
  }
  try {
    runtime->call(op, keys & kBelowUs, *stack);
  } catch (const OutOfMemory&) {
    rethrow_for_user();
  }
}

std::string describe_as_torch(const OutOfMemory& error) {
  const Runtime* runtime = active_runtime();
  const bool is_gpu = runtime != nullptr && runtime->torch_device().is_cuda();
  return base::concat(
      is_gpu ? "CUDA out of memory. " : "DefaultCPUAllocator: can't allocate memory: ", "Lowtide: ",
      error.what());
}

void translate_errors(bool translate) {
  is_translating.store(translate, std::memory_order_relaxed);
}

void rethrow_for_user() {
  if (!is_translating.load(std::memory_order_relaxed)) throw;
  try {
    throw;
  } catch (const OutOfMemory& error) {
    throw c10::OutOfMemoryError({__func__, __FILE__, __LINE__}, describe_as_torch(error));
  }
}

void set_active_runtime(Runtime* runtime) { active.store(runtime, std::memory_order_release); }
Runtime* active_runtime() { return active.load(std::memory_order_acquire); }

bool keep_what_is_made(bool keep) { return std::exchange(keeps_what_is_made, keep); }
bool is_keeping_what_is_made() { return keeps_what_is_made; }

void set_thread_managed(bool managed) {
  c10::impl::tls_set_dispatch_key_included(kOurKey, managed);
}
bool is_thread_managed() { return c10::impl::tls_is_dispatch_key_included(kOurKey); }

}  // namespace lowtide::run

TORCH_LIBRARY_IMPL(_, Fake, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&lowtide::run::intercept>());
}
