// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include <ATen/core/stack.h>

#include "estimate/torch/target.h"

namespace lowtide::estimate {

// What an op costs beside the tensors that it makes.
struct OpCost {
  std::int64_t flops = 0;
  // What its kernel takes from torch's allocator and gives back before it returns.
  std::int64_t workspace_bytes = 0;
  // The same between its first result and the others.
  std::int64_t early_workspace_bytes = 0;
};

// The tables are in the source, each line with where it comes from.
OpCost cost_of(const std::string& op, const torch::jit::Stack& arguments,
               const torch::jit::Stack& results, const Target& target);

}  // namespace lowtide::estimate
