// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

namespace lowtide::estimate {

// For what an estimate is: torch takes other kernels on a GPU than on a CPU, which keep other
// tensors for the backward pass and take other workspaces.
enum class Target { kCpu, kGpu };

}  // namespace lowtide::estimate
