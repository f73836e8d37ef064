// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/cuda/device_pages.h"

#include <c10/cuda/CUDAGuard.h>
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "base/check.h"
#include "lowtide/errors.h"

namespace lowtide::cuda {
namespace {

// The driver's functions, found at run time: a machine without a GPU has no driver to link.
struct Driver {
  decltype(&cuDeviceGetAttribute) device_attribute = nullptr;
  decltype(&cuMemGetAllocationGranularity) granularity = nullptr;
  decltype(&cuMemCreate) create = nullptr;
  decltype(&cuMemRelease) release = nullptr;
  decltype(&cuMemAddressReserve) reserve = nullptr;
  decltype(&cuMemAddressFree) unreserve = nullptr;
  decltype(&cuMemMap) map = nullptr;
  decltype(&cuMemUnmap) unmap = nullptr;
  decltype(&cuMemSetAccess) set_access = nullptr;
  bool is_complete = false;
};

// The version in which all of them were there.
constexpr unsigned kDriverVersion = 12000;

template <class Function>
bool find(const char* name, Function& function) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &found, kDriverVersion, cudaEnableDefault, &result);
  static_cast<void>(cudaGetLastError());
  if (status != cudaSuccess || result != cudaDriverEntryPointSuccess) return false;
  function = reinterpret_cast<Function>(found);
  return function != nullptr;
}

const Driver& driver() {
  static const Driver found = [] {
    Driver functions;
    functions.is_complete =
        find("cuDeviceGetAttribute", functions.device_attribute) &&
        find("cuMemGetAllocationGranularity", functions.granularity) &&
        find("cuMemCreate", functions.create) && find("cuMemRelease", functions.release) &&
        find("cuMemAddressReserve", functions.reserve) &&
        find("cuMemAddressFree", functions.unreserve) && find("cuMemMap", functions.map) &&
        find("cuMemUnmap", functions.unmap) && find("cuMemSetAccess", functions.set_access);
    return functions;
  }();
  return found;
}

void check(CUresult status, const char* what) {
  if (status == CUDA_SUCCESS) return;
  throw DeviceError(
      base::concat(what, " failed with the driver's error ", static_cast<int>(status)));
}

CUmemLocation location(int device) {
  CUmemLocation location{};
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device;
  return location;
}

CUmemAllocationProp properties(int device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = location(device);
  return properties;
}

}  // namespace

bool DevicePages::work_on(int device) {
  if (!driver().is_complete) return false;
  int has_virtual_memory = 0;
  const CUresult status = driver().device_attribute(
      &has_virtual_memory, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device);
  if (status != CUDA_SUCCESS || has_virtual_memory == 0) return false;
  const CUmemAllocationProp wanted = properties(device);
  std::size_t least = 0;
  return driver().granularity(&least, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM) == CUDA_SUCCESS &&
         static_cast<std::size_t>(kSmallestPageBytes) % least == 0;
}

std::optional<engine::PageMapper::Page> DevicePages::make_page() {
  const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device_));
  const CUmemAllocationProp wanted = properties(device_);
  CUmemGenericAllocationHandle page = 0;
  const CUresult status = driver().create(&page, bytes_of(1), &wanted, 0);
  if (status == CUDA_ERROR_OUT_OF_MEMORY) return std::nullopt;
  check(status, "to make a page");
  return page;
}

void DevicePages::release_page(Page page) noexcept { static_cast<void>(driver().release(page)); }

engine::PageMapper::Address DevicePages::reserve(std::int64_t pages) {
  CUdeviceptr address = 0;
  check(driver().reserve(&address, bytes_of(pages), 0, 0, 0), "to reserve addresses");
  return address;
}

void DevicePages::unreserve(Address address, std::int64_t pages) noexcept {
  static_cast<void>(driver().unreserve(address, bytes_of(pages)));
}

void DevicePages::map(Address address, std::span<const Page> pages) {
  const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device_));
  std::int64_t mapped = 0;
  try {
    for (const Page page : pages) {
      check(driver().map(address + bytes_of(mapped), bytes_of(1), 0, page, 0), "to map a page");
      ++mapped;
    }
    CUmemAccessDesc access{};
    access.location = location(device_);
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    check(driver().set_access(address, bytes_of(mapped), &access, 1), "to give access to pages");
  } catch (...) {
    if (mapped > 0) unmap(address, mapped);
    throw;
  }
}

void DevicePages::unmap(Address address, std::int64_t pages) noexcept {
  static_cast<void>(driver().unmap(address, bytes_of(pages)));
}

}  // namespace lowtide::cuda
