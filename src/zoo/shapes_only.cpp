// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/shapes_only.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

namespace lowtide::zoo {
namespace {

// Torch keeps this key for libraries that put off the initialisation of modules.
constexpr c10::DispatchKey kKey = c10::DispatchKey::DeferredInit;

// Turns each call that would make a tensor somewhere to `meta`; ops on such tensors stay there.
void make_on_meta(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard only_once(kKey);
  const auto& arguments = op.schema().arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name() != "device") continue;
    *(stack->end() - static_cast<std::ptrdiff_t>(arguments.size() - i)) = c10::Device(c10::kMeta);
  }
  op.callBoxed(stack);
}

TORCH_LIBRARY_IMPL(_, DeferredInit, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&make_on_meta>());
}

}  // namespace

ShapesOnly::ShapesOnly() : guard_(kKey) {}

}  // namespace lowtide::zoo
