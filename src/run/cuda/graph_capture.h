// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

namespace lowtide::cuda {

// Whether what is issued to the stream becomes part of a graph instead of being carried out.
bool is_capturing(cudaStream_t stream);

}  // namespace lowtide::cuda
