// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include <c10/cuda/CUDACachingAllocator.h>

namespace lowtide::cuda {

// The limit on what torch's own allocator takes from one device.
class NativeLimit {
 public:
  // By which torch's allocator grows a segment.
  static constexpr std::int64_t kGrowthBytes = std::int64_t{20} << 20;

  NativeLimit(c10::cuda::CUDACachingAllocator::CUDAAllocator& native, c10::DeviceIndex device,
              std::int64_t device_bytes)
      : native_(native), device_(device), device_bytes_(device_bytes) {}

  void set(std::int64_t bytes);
  // As it was before the first set().
  void lift();
  bool is_set() const { return old_fraction_.has_value(); }

 private:
  c10::cuda::CUDACachingAllocator::CUDAAllocator& native_;
  const c10::DeviceIndex device_;
  const std::int64_t device_bytes_;
  std::optional<double> old_fraction_;
};

}  // namespace lowtide::cuda
