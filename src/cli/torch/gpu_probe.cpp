// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/torch/gpu_probe.h"

#include <algorithm>
#include <chrono>
#include <fstream>

#include <ATen/ATen.h>
#include <dlfcn.h>
#include <torch/cuda.h>

namespace lowtide::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCopies = 4;
// Of the driver's enumeration of what can be asked about a device.
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;

// The driver, which is there or not when the program runs. It stays loaded: torch has it too.
class Driver {
 public:
  Driver() : library_(::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {}

  // 0 if the driver did as it was told, as all its functions have it.
  template <class... Arguments>
  int call(const char* name, Arguments... arguments) const {
    if (library_ == nullptr) return -1;
    void* const function = ::dlsym(library_, name);
    if (function == nullptr) return -1;
    return reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
  }

 private:
  void* library_;
};

GpuFacts gpu_facts(const Driver& driver, int device) {
  GpuFacts facts;
  char name[256] = "";
  std::size_t bytes = 0;
  driver.call("cuDeviceGetName", static_cast<char*>(name), static_cast<int>(sizeof name), device);
  driver.call("cuDeviceTotalMem_v2", &bytes, device);
  driver.call("cuDeviceGetAttribute", &facts.major, kCapabilityMajor, device);
  driver.call("cuDeviceGetAttribute", &facts.minor, kCapabilityMinor, device);
  facts.name = name;
  facts.memory_bytes = static_cast<std::int64_t>(bytes);
  return facts;
}

// The best of some copies: the first wakes the link up.
double copy_speed(int gpu, at::Tensor to, const at::Tensor& from) {
  double best = 0;
  for (int i = 0; i < kCopies; ++i) {
    const Clock::time_point start = Clock::now();
    to.copy_(from, true);
    torch::cuda::synchronize(gpu);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, static_cast<double>(kLinkTrialBytes) / seconds);
  }
  return best;
}

}  // namespace

DriverFacts probe_driver() {
  const Driver driver;
  DriverFacts facts;
  facts.version = driver_version();
  driver.call("cuDriverGetVersion", &facts.cuda_version);
  int count = 0;
  // Where no GPU is visible, the first of them fails.
  if (driver.call("cuInit", 0U) != 0 || driver.call("cuDeviceGetCount", &count) != 0) return facts;
  for (int i = 0; i < count; ++i) {
    int device = 0;
    if (driver.call("cuDeviceGet", &device, i) == 0) {
      facts.gpus.push_back(gpu_facts(driver, device));
    }
  }
  return facts;
}

std::string driver_version(const std::filesystem::path& root) {
  std::ifstream in(root / "sys/module/nvidia/version");
  std::string version;
  in >> version;
  return version;
}

std::optional<LinkFacts> measure_link(int gpu, std::string& failure) {
  try {
    const auto bytes = at::TensorOptions().dtype(at::kByte);
    const at::Tensor host = at::empty({kLinkTrialBytes}, bytes.pinned_memory(true));
    const at::Tensor device = at::empty(
        {kLinkTrialBytes}, bytes.device(at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(gpu))));
    return LinkFacts{copy_speed(gpu, device, host), copy_speed(gpu, host, device)};
  } catch (const std::exception& error) {
    failure = error.what();
    failure.resize(std::min(failure.find('\n'), failure.size()));
    while (failure.ends_with('.')) failure.pop_back();
    return std::nullopt;
  }
}

}  // namespace lowtide::cli
