// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lowtide::cli {

// Between pinned host memory and the device, in large copies.
struct LinkFacts {
  double to_device_bytes_per_second = 0;
  double to_host_bytes_per_second = 0;
};

struct GpuFacts {
  std::string name;
  std::int64_t memory_bytes = 0;
  // Of its compute capability.
  int major = 0;
  int minor = 0;
};

struct DriverFacts {
  // Its own, such as "570.86.15"; empty: the kernel does not tell.
  std::string version{};
  // The newest CUDA that it knows, as 12040 for 12.4; 0: there is no driver.
  int cuda_version = 0;
  std::vector<GpuFacts> gpus;
};

// What the driver says, whether or not torch can use it. Does not throw.
DriverFacts probe_driver();

// The version of NVIDIA's module in the kernel; empty: there is none. `root`: where sys/ is.
std::string driver_version(const std::filesystem::path& root = "/");

// So much host memory is pinned to measure a link.
inline constexpr std::int64_t kLinkTrialBytes = std::int64_t{256} << 20;

// Nothing if torch cannot use this GPU; `failure` then says why.
std::optional<LinkFacts> measure_link(int gpu, std::string& failure);

}  // namespace lowtide::cli
