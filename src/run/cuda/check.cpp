// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/cuda/check.h"

#include "base/check.h"

namespace lowtide::cuda {

void throw_if_failed(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  // The runtime keeps the error; torch's own checks would report it as theirs.
  static_cast<void>(cudaGetLastError());
  throw DeviceError(base::concat("CUDA failed: ", cudaGetErrorString(status), " (",
                                 cudaGetErrorName(status), ") in ", call));
}

}  // namespace lowtide::cuda
