// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "estimate/torch/target.h"

namespace lowtide::estimate {

// Carries out ops on shapes alone: what an op would make is allocated, and so is the memory that
// its kernel takes meanwhile, but nothing is computed. A run::Kernels. Torch's own functions for
// the device `meta` say what shapes come out; meta_kernels.cpp has those that torch only has in
// Python. Throws InvalidInput for an op that wants to know contents.
void run_on_shapes(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                   torch::jit::Stack& stack);

// What was seen of each op since start_op_log(), views included, in the order of a capture.
struct LoggedOp {
  std::int64_t flops = 0;
  // What it takes and gives back between its first result and the others.
  std::int64_t early_workspace_bytes = 0;
};
// Kernels take the memory that they would take on the target.
void start_op_log(const Target& target);
const std::vector<LoggedOp>& op_log();

}  // namespace lowtide::estimate
