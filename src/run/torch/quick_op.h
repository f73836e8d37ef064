// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <ATen/core/IListRef.h>
#include <ATen/core/boxing/impl/boxing.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "lowtide/errors.h"
#include "run/torch/arguments.h"
#include "run/torch/interceptor.h"
#include "run/torch/quiet_call.h"

namespace lowtide::run {

// Puts the defined tensors of arguments or results on a list, in the order in which
// for_each_tensor() finds them in boxes. What holds no tensors is passed over.
struct TensorCollector {
  TensorPointers tensors;

  void add(const at::Tensor& tensor) {
    if (tensor.defined()) tensors.push_back(&tensor);
  }
  void add(const std::optional<at::Tensor>& tensor) {
    if (tensor) add(*tensor);
  }
  void add(at::TensorList list) {
    for (const at::Tensor& tensor : list) add(tensor);
  }
  void add(const at::ITensorListRef& list) {
    for (const at::Tensor& tensor : list) add(tensor);
  }
  void add(const std::vector<at::Tensor>& list) { add(at::TensorList(list)); }
  template <class... Parts>
  void add(const std::tuple<Parts...>& parts) {
    std::apply([this](const auto&... part) { (add(part), ...); }, parts);
  }
  template <class Other>
  requires std::is_arithmetic_v<Other>
  void add(Other) {}
  void add(const c10::SymInt&) {}
  void add(const c10::Scalar&) {}
  void add(std::string_view) {}
  void add(c10::IntArrayRef) {}
  void add(c10::SymIntArrayRef) {}
  template <class Other>
  void add(const c10::OptionalArrayRef<Other>&) {}
  template <class Other>
  void add(const std::optional<Other>&) {}
  template <std::size_t N>
  void add(const std::array<bool, N>&) {}
};

// A frequent operator (one of at::_ops) whose arguments are not put in boxes where the plan wants
// nothing done: boxing costs as much as all else that is done for such an op. Everywhere else it is
// intercepted as any other.
template <class Op, class Schema = typename Op::schema>
class QuickOp;

template <class Op, class Result, class... Arguments>
class QuickOp<Op, Result(Arguments...)> {
 public:
  static Result call(c10::DispatchKeySet keys, Arguments... arguments) {
    Runtime* runtime = keys.has(c10::DispatchKey::Python) ? nullptr : active_runtime();
    if (runtime != nullptr && !runtime->is_aside()) {
      Guide& guide = runtime->guide();
      if (effects().is_view && guide.pass_view()) return run(keys, arguments...);
      if (guide.may_be_quiet()) {
        QuietCall quiet(*runtime, effects());
        try {
          if (begin(quiet, arguments...)) return finish(quiet, keys, arguments...);
        } catch (const OutOfMemory&) {
          rethrow_for_user();
        }
      }
    }
    static const c10::BoxedKernel boxed = c10::BoxedKernel::makeFromFunction<&intercept>();
    return c10::impl::BoxedKernelWrapper<Result(Arguments...)>::call(
        boxed, handle(), keys, std::forward<Arguments>(arguments)...);
  }

 private:
  static const c10::OperatorHandle& handle() {
    static const c10::OperatorHandle found =
        c10::Dispatcher::singleton().findSchemaOrThrow(Op::name, Op::overload_name);
    return found;
  }
  static const OpEffects& effects() {
    static const OpEffects& found = effects_of(handle());
    return found;
  }

  static Result run(c10::DispatchKeySet keys, Arguments... arguments) {
    const c10::impl::ExcludeDispatchKeyGuard guard(kOurKey);
    return Op::redispatch(keys & kBelowUs, std::forward<Arguments>(arguments)...);
  }
  static bool begin(QuietCall& quiet, const std::remove_reference_t<Arguments>&... arguments) {
    TensorCollector collector;
    (collector.add(arguments), ...);
    return quiet.begin(collector.tensors);
  }
  static Result finish(QuietCall& quiet, c10::DispatchKeySet keys, Arguments... arguments) {
    Result result = run(keys, std::forward<Arguments>(arguments)...);
    TensorCollector collector;
    collector.add(result);
    quiet.end(collector.tensors);
    return result;
  }
};

}  // namespace lowtide::run
