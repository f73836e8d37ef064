// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/torch/shape_kernels.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "base/check.h"
#include "estimate/torch/op_costs.h"
#include "run/torch/effects.h"

namespace lowtide::estimate {
namespace {

using torch::jit::Stack;

std::vector<LoggedOp> logged;
Target target_now;

at::Tensor empty_on_cpu(const at::Tensor& shape) {
  return at::detail::empty_strided_cpu(shape.sizes(), shape.strides(), shape.scalar_type());
}

// The arguments of one op with each tensor replaced by one that has its shape and no bytes.
class Shapes {
 public:
  c10::IValue of(const c10::IValue& value) {
    if (value.isTensor()) return of(value.toTensor());
    if (value.isDevice()) return c10::Device(c10::kMeta);
    if (value.isGenerator()) return {};
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorList()) list.push_back(of(tensor));
      return list;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorList()) {
        list.push_back(tensor ? std::optional(of(*tensor)) : std::nullopt);
      }
      return list;
    }
    return value;
  }

  // What the op would have returned.
  c10::IValue back(const c10::IValue& value) const {
    if (value.isTensor()) return back(value.toTensor());
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorList()) list.push_back(back(tensor));
      return list;
    }
    return value;
  }

 private:
  at::Tensor of(const at::Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    at::Tensor twin =
        at::detail::empty_strided_meta(tensor.sizes(), tensor.strides(), tensor.scalar_type());
    if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
      twin.unsafeGetTensorImpl()->set_wrapped_number(true);
    }
    pairs_.try_emplace(twin.storage().unsafeGetStorageImpl(), Pair{twin, tensor});
    return twin;
  }

  at::Tensor back(const at::Tensor& shape) const {
    if (!shape.defined()) return shape;
    const auto found = pairs_.find(shape.storage().unsafeGetStorageImpl());
    if (found == pairs_.end()) return empty_on_cpu(shape);
    const auto& [twin, original] = found->second;
    if (twin.is_same(shape)) return original;
    return original.as_strided(shape.sizes(), shape.strides(),
                               original.storage_offset() + shape.storage_offset());
  }

  struct Pair {
    at::Tensor twin;
    at::Tensor original;
  };
  // By the twin's storage, which it has for itself: ops on lists have as many results as arguments.
  std::unordered_map<const c10::StorageImpl*, Pair> pairs_;
};

// Whether all it returns is among its arguments, as with ops in place.
bool makes_nothing(const c10::FunctionSchema& schema) {
  return std::all_of(schema.returns().begin(), schema.returns().end(),
                     [](const c10::Argument& result) {
                       return result.alias_info() != nullptr && result.alias_info()->isWrite();
                     });
}

// The argument that a result is, by the name of the set in the schema: "(a!)".
c10::IValue argument_for(const c10::FunctionSchema& schema, const c10::Argument& result,
                         const Stack& arguments) {
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::AliasInfo* alias = schema.arguments()[i].alias_info();
    if (alias != nullptr && *alias == *result.alias_info()) return arguments[i];
  }
  throw InternalError("no argument of " + schema.name() + " is what it returns");
}

Stack written_arguments(const c10::FunctionSchema& schema, const Stack& arguments) {
  Stack results;
  for (const c10::Argument& result : schema.returns()) {
    results.push_back(argument_for(schema, result, arguments));
  }
  return results;
}

// Torch's functions for `meta` call further ops, which must not be taken for the program's.
Stack call_on_meta(const c10::OperatorHandle& op, const Stack& arguments) {
  Shapes shapes;
  Stack stack;
  for (const c10::IValue& argument : arguments) stack.push_back(shapes.of(argument));
  {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const c10::impl::ExcludeDispatchKeyGuard no_casts(c10::autocast_dispatch_keyset);
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::Meta), &stack);
  }
  for (c10::IValue& result : stack) result = shapes.back(result);
  return stack;
}

Stack results_of(const c10::OperatorHandle& op, const Stack& arguments) {
  const c10::FunctionSchema& schema = op.schema();
  if (makes_nothing(schema)) return written_arguments(schema, arguments);
  LT_REQUIRE(schema.name() != "aten::_local_scalar_dense" && schema.name() != "aten::nonzero",
             "the model decides by the contents of a tensor (", schema.name(),
             "), which an estimate does not have");
  try {
    return call_on_meta(op, arguments);
  } catch (const c10::NotImplementedError&) {
    throw InvalidInput("no shapes are known for the op " + schema.name());
  }
}

}  // namespace

void run_on_shapes(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack& stack) {
  const run::OpEffects& effects = run::effects_of(op);
  if (effects.is_view || effects.changes_storages) {
    logged.emplace_back();
    op.redispatchBoxed(keys, &stack);
    return;
  }
  const std::size_t count = op.schema().arguments().size();
  const Stack arguments(stack.end() - static_cast<std::ptrdiff_t>(count), stack.end());
  Stack results = results_of(op, arguments);
  const OpCost cost = cost_of(op.schema().name(), arguments, results, target_now);
  logged.push_back({.flops = cost.flops, .early_workspace_bytes = cost.early_workspace_bytes});
  if (cost.workspace_bytes > 0) {
    static_cast<void>(at::detail::empty_cpu({cost.workspace_bytes}, at::kByte));
  }
  stack.resize(stack.size() - count);
  for (c10::IValue& result : results) stack.push_back(std::move(result));
}

void start_op_log(const Target& target) {
  logged.clear();
  target_now = target;
}

const std::vector<LoggedOp>& op_log() { return logged; }

}  // namespace lowtide::estimate
