// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "run/engine/device.h"

namespace lowtide::cuda {

struct CudaDeviceOptions {
  // While a limit is set, torch's allocator makes segments that can grow, which leaves far less
  // memory reserved and unused. A setting of the user's own is left as it is.
  bool expandable_segments = true;
  // While a limit is set, large blocks lie in pages of our own, where the GPU can do that.
  bool own_pages = true;
  // For tests: freed blocks are filled with 0xFF first.
  bool poison = false;
};

int cuda_device_count();
inline bool cuda_is_available() { return cuda_device_count() > 0; }

// The GPU with this index, of which there should be one object at a time. Its gate and ledger are
// the process's and stay. Throws DeviceError when there is no such GPU.
std::unique_ptr<engine::Device> make_cuda_device(int index, const CudaDeviceOptions& options);

}  // namespace lowtide::cuda
