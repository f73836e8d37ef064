// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "device_memory.h"

#include <ATen/Context.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <torch/cuda.h>

namespace lowtide::bench {
namespace {

c10::DeviceAllocator* allocator_of(const std::string& device) {
  return device == "cpu" ? nullptr : c10::getDeviceAllocator(c10::kCUDA);
}

}  // namespace

void synchronize(const std::string& device) {
  if (device != "cpu") torch::cuda::synchronize();
}

void empty_cache(const std::string& device) {
  if (c10::DeviceAllocator* allocator = allocator_of(device)) allocator->emptyCache();
}

void reset_peaks(const std::string& device) {
  if (c10::DeviceAllocator* allocator = allocator_of(device)) allocator->resetPeakStats(0);
}

DeviceMemory read_peaks(const std::string& device) {
  c10::DeviceAllocator* allocator = allocator_of(device);
  if (allocator == nullptr) return {};
  const auto stats = allocator->getDeviceStats(0);
  return {.allocated_peak_bytes = stats.allocated_bytes[0].peak,
          .reserved_peak_bytes = stats.reserved_bytes[0].peak,
          .cache_flushes = stats.num_alloc_retries,
          .failures = stats.num_ooms};
}

}  // namespace lowtide::bench
