// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "estimate/gpus.h"

namespace lowtide::estimate {

// While it lives, the operators of its thread that choose their kernels by the device choose as
// they would for tensors of a GPU, above autograd, so that what is kept for the backward pass is
// what a GPU keeps: batch norm and LSTM by cuDNN, dropout with a mask of bytes, attention that does
// not write its scores down, and autocast's list of what stays in float32.
class GpuChoices {
 public:
  explicit GpuChoices(const Architecture& gpu);
  ~GpuChoices();
  GpuChoices(const GpuChoices&) = delete;
  GpuChoices& operator=(const GpuChoices&) = delete;
};

}  // namespace lowtide::estimate
