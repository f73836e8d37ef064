// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "run/engine/page_mapper.h"

namespace lowtide::cuda {

// Pages of a GPU's memory, by the driver's functions for virtual memory. A page may be written at
// one of its addresses and read at another, as long as these are not two accesses of one kernel.
class DevicePages final : public engine::PageMapper {
 public:
  // To map a page takes some 40 microseconds, whatever its size.
  static constexpr std::int64_t kPageBytes = std::int64_t{16} << 20;

  // Whether the GPU and its driver can do that.
  static bool work_on(int device);
  // Requires: work_on(device).
  explicit DevicePages(int device) : device_(device) {}

  std::int64_t page_bytes() const override { return kPageBytes; }
  std::optional<Page> make_page() override;
  void release_page(Page page) noexcept override;
  Address reserve(std::int64_t pages) override;
  void unreserve(Address address, std::int64_t pages) noexcept override;
  void map(Address address, std::span<const Page> pages) override;
  void unmap(Address address, std::int64_t pages) noexcept override;

 private:
  std::size_t bytes_of(std::int64_t pages) const {
    return static_cast<std::size_t>(pages * kPageBytes);
  }

  const int device_;
};

}  // namespace lowtide::cuda
