// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

// The device as torch itself reports it. On the CPU torch reports nothing, and peaks are 0.

namespace lowtide::bench {

struct DeviceMemory {
  std::int64_t allocated_peak_bytes = 0;
  std::int64_t reserved_peak_bytes = 0;
  // How often its allocator gave its cache back to find room, and how often it found none even so:
  // both make the device wait. Since the process began.
  std::int64_t cache_flushes = 0;
  std::int64_t failures = 0;
};

// Waits until the device has done all it was given.
void synchronize(const std::string& device);
// Gives torch's cached memory back, so that the peaks of one mode are not those of another.
void empty_cache(const std::string& device);
void reset_peaks(const std::string& device);
DeviceMemory read_peaks(const std::string& device);

}  // namespace lowtide::bench
