// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "session/devices.h"

#include <map>
#include <utility>

#include <unistd.h>

#include "base/check.h"
#include "run/torch/cpu_device.h"

#ifdef LOWTIDE_HAS_CUDA
#include "run/cuda/cuda_device.h"
#endif

namespace lowtide::session {
namespace {

std::function<engine::Device&(engine::Device&)>& wrapper() {
  static std::function<engine::Device&(engine::Device&)> wrap;
  return wrap;
}

ManagedDevice& manage(engine::Device& device, c10::Device torch_device) {
  engine::Device& wrapped = wrapper() ? wrapper()(device) : device;
  return *new ManagedDevice{wrapped, *new run::Runtime(wrapped, torch_device)};
}

ManagedDevice& managed_cpu() {
  static ManagedDevice& cpu = manage(run::cpu_device(), c10::Device(c10::kCPU));
  return cpu;
}

#ifdef LOWTIDE_HAS_CUDA
bool has_cuda() { return cuda::cuda_is_available(); }

// Each way of using a GPU has its own books; the gate and the ledger are the same.
ManagedDevice& managed_cuda(int index, const GpuUse& use) {
  const int count = cuda::cuda_device_count();
  if (index >= count) {
    throw DeviceError(
        base::concat("cuda:", index, " was asked for; GPUs that torch finds: ", count));
  }
  static std::map<std::pair<int, GpuUse>, ManagedDevice*> devices;
  ManagedDevice*& device = devices[{index, use}];
  if (device == nullptr) {
    const cuda::CudaDeviceOptions options = {.expandable_segments = use.expandable_segments,
                                             .own_pages = use.own_pages};
    engine::Device* gpu = cuda::make_cuda_device(index, options).release();
    device = &manage(*gpu, c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(index)));
  }
  return *device;
}
#else
bool has_cuda() { return false; }

ManagedDevice& managed_cuda(int index, const GpuUse&) {
  throw DeviceError(base::concat("cuda:", index,
                                 " was asked for, but this build is for the "
                                 "processor only: build it where CUDA's headers are"));
}
#endif

}  // namespace

ManagedDevice& device_named(const std::string& name, const GpuUse& use) {
  if (name == "cpu" || (name.empty() && !has_cuda())) return managed_cpu();
  if (name.empty() || name == "cuda") return managed_cuda(0, use);
  const std::string prefix = "cuda:";
  const std::string number = name.starts_with(prefix) ? name.substr(prefix.size()) : "";
  const bool is_number = !number.empty() && number.size() < 4 &&
                         number.find_first_not_of("0123456789") == std::string::npos;
  LT_REQUIRE(is_number, "unknown device \"", name, "\": use cpu, cuda or cuda:N");
  return managed_cuda(std::stoi(number), use);
}

bool is_built_for_gpus() {
#ifdef LOWTIDE_HAS_CUDA
  return true;
#else
  return false;
#endif
}

void wrap_devices(std::function<engine::Device&(engine::Device&)> wrap) {
  wrapper() = std::move(wrap);
}

std::int64_t default_host_cap() {
  return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::int64_t>(sysconf(_SC_PAGE_SIZE)) / 2;
}

}  // namespace lowtide::session
