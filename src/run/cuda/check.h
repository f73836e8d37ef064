// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

// LT_CUDA(call): carries out a call of the CUDA runtime and throws DeviceError, with the call's
// text, when it fails.
#define LT_CUDA(call) ::lowtide::cuda::throw_if_failed((call), #call)

namespace lowtide::cuda {

void throw_if_failed(cudaError_t status, const char* call);

}  // namespace lowtide::cuda
