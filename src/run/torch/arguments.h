// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/core/TensorBody.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <c10/util/SmallVector.h>

#include "run/torch/value.h"

namespace lowtide::run {

// Tensors somewhere among an op's arguments or results.
using TensorPointers = c10::SmallVector<const at::Tensor*, 8>;

// Calls visit(tensor) for every defined tensor in an argument: in lists of lists too, in tuples,
// and among the values of dictionaries. What it is given of a dictionary may be gone when it
// returns.
template <class Visit>
void for_each_tensor(const c10::IValue& argument, const Visit& visit) {
  if (argument.isTensor()) {
    const at::Tensor& tensor = argument.toTensor();
    if (tensor.defined()) visit(tensor);
  } else if (argument.isTuple()) {
    for (const c10::IValue& element : argument.toTupleRef().elements()) {
      for_each_tensor(element, visit);
    }
  } else if (argument.isGenericDict()) {
    for (const auto& entry : argument.toGenericDict()) for_each_tensor(entry.value(), visit);
  } else if (argument.isList()) {
    // Lists of numbers are not worth walking through.
    if (argument.isIntList() || argument.isDoubleList() || argument.isBoolList()) return;
    for (const c10::IValue& element : argument.toListRef()) for_each_tensor(element, visit);
  }
}

// The same for what the op has left on the stack as its results.
template <class Visit>
void for_each_result(const c10::OperatorHandle& op, const torch::jit::Stack& stack,
                     const Visit& visit) {
  const std::size_t results = op.schema().returns().size();
  for (std::size_t i = stack.size() - results; i < stack.size(); ++i) {
    for_each_tensor(stack[i], visit);
  }
}

// Whether a tensor has bytes of its own in an ordinary storage: no subclass, fake, meta, sparse or
// nested tensor, no zero tensor.
bool has_plain_bytes(const at::Tensor& tensor);

// Whether an argument can be kept in a record as it is: a number, text, device, generator and the
// like, or a list of such.
bool is_plain_argument(const c10::IValue& argument);

// Such an argument as it is now: a list that somebody else has may be changed later.
c10::IValue as_it_is_now(const c10::IValue& argument);

// How a tensor looks at its storage.
Ref geometry_of(const at::Tensor& tensor);

// A tensor that looks at `storage` as the recorded one looked at its own.
at::Tensor tensor_from(const Ref& ref, c10::Storage storage);

// Whether the tensor's elements are all of its storage's bytes, each once.
bool covers_storage(const at::Tensor& tensor);

}  // namespace lowtide::run
