// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/quick_op.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace lowtide::run {
namespace {

using Impls = std::vector<const c10::TensorImpl*>;

template <class... Arguments>
Impls found_as_they_are(const Arguments&... arguments) {
  TensorCollector collector;
  (collector.add(arguments), ...);
  Impls found;
  for (const at::Tensor* tensor : collector.tensors) {
    found.push_back(tensor->unsafeGetTensorImpl());
  }
  return found;
}

Impls found_in_boxes(const torch::jit::Stack& stack) {
  Impls found;
  for (const c10::IValue& argument : stack) {
    for_each_tensor(
        argument, [&](const at::Tensor& tensor) { found.push_back(tensor.unsafeGetTensorImpl()); });
  }
  return found;
}

// If they differed, a plan would not know the op again.
TEST(QuickOp, FindsTheTensorsThatAreFoundInBoxes) {
  const at::Tensor a = at::zeros(1), b = at::zeros(2), c = at::zeros(3);
  const std::vector<at::Tensor> list = {c, a, at::Tensor(), b};
  const std::optional<at::Tensor> some = b, none;
  const std::vector<c10::SymInt> sizes = {1, 2};
  const Impls boxed =
      found_in_boxes({a, at::Tensor(), some, none, 2.5, true, 7, "tanh",
                      c10::List<std::int64_t>({1, 2}), c10::List<at::Tensor>(list)});
  EXPECT_EQ(boxed.size(), 5U);
  EXPECT_EQ(
      found_as_they_are(a, at::Tensor(), some, none, 2.5, true, c10::SymInt(7),
                        std::string_view("tanh"), c10::SymIntArrayRef(sizes), at::TensorList(list)),
      boxed);
  EXPECT_EQ(found_as_they_are(a, some, at::ITensorListRef(list)), boxed);
}

TEST(QuickOp, FindsResultsInTuplesAndLists) {
  const at::Tensor a = at::zeros(1), b = at::zeros(2);
  const Impls both = {a.unsafeGetTensorImpl(), b.unsafeGetTensorImpl()};
  EXPECT_EQ(found_as_they_are(std::tuple(a, at::Tensor(), b, c10::SymInt(3))), both);
  EXPECT_EQ(found_as_they_are(std::vector{a, b}), both);
}

}  // namespace
}  // namespace lowtide::run
