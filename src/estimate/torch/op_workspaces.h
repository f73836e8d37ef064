// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>

#include "estimate/gpus.h"

// What kernels take from torch's allocator and give back before they return.

namespace lowtide::estimate {

// One op as the rules look at it.
struct OpCall {
  const torch::jit::Stack& arguments;
  const torch::jit::Stack& results;

  const at::Tensor& argument(std::size_t i) const { return arguments[i].toTensor(); }
  const at::Tensor& result(std::size_t i) const { return results[i].toTensor(); }
};

// 0 for a tensor that is not there.
std::int64_t bytes_of(const at::Tensor& tensor);
// How many parts of `divisor` a number comes to, the last of which need not be full.
inline std::int64_t ceiled(std::int64_t number, std::int64_t divisor) {
  return (number + divisor - 1) / divisor;
}
// Of strides: whether no point is left out.
bool is_one(const c10::IValue& numbers);

// Rules found in recorded steps and in the sources of kernels, on an H200 and on a CPU with
// AVX-512. 0 for ops without a rule.
std::int64_t gpu_workspace_bytes(const std::string& op, const OpCall& call,
                                 const Architecture& gpu);
std::int64_t cpu_workspace_bytes(const std::string& op, const OpCall& call);
// Of an op with several results: what it takes and gives back after it made the first one.
std::int64_t gpu_early_workspace_bytes(const std::string& op, const OpCall& call);

}  // namespace lowtide::estimate
