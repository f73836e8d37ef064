// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/torch/op_workspaces.h"

#include <algorithm>

#include <ATen/ATen.h>

namespace lowtide::estimate {

std::int64_t bytes_of(const at::Tensor& tensor) {
  return tensor.defined() ? static_cast<std::int64_t>(tensor.nbytes()) : 0;
}

bool is_one(const c10::IValue& numbers) {
  const auto list = numbers.toIntVector();
  return std::all_of(list.begin(), list.end(), [](std::int64_t n) { return n == 1; });
}

}  // namespace lowtide::estimate
