// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "estimate/gpus.h"

namespace lowtide::estimate {

// For what an estimate is: torch takes other kernels on a GPU than on a CPU, and others on one GPU
// than on another, which keep other tensors for the backward pass and take other workspaces.
struct Target {
  // Nothing: the CPU.
  std::optional<Architecture> gpu;

  static const Target kCpu;
  // An H200.
  static const Target kGpu;
};
inline const Target Target::kCpu = {};
inline const Target Target::kGpu = {Architecture()};

}  // namespace lowtide::estimate
