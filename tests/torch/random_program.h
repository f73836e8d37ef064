// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "torch/program.h"

namespace lowtide::torch_test {

// A training whose steps are drawn from a seed: ops of all kinds in any order (views and writes
// through them, ops in place, random ops with several generators, changes of type and of storages,
// lists, regions without gradients, in inference mode and under autocast, gradients of gradients,
// hooks, lazy copies, switches of the process that are turned half-way), steps of two shapes that
// begin alike, values that are dropped early or outlive the step, and exceptions half-way. What is
// drawn never depends on what tensors hold, so that a plain run and a managed one do the same. For
// the CPU.
Program random_program(std::uint64_t seed);

}  // namespace lowtide::torch_test
