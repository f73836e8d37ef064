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
  // What GPUs have.
  static constexpr std::int64_t kSmallestPageBytes = std::int64_t{2} << 20;

  // Whether the GPU and its driver can do that.
  static bool work_on(int device);
  // Requires: work_on(device), and a size that is a multiple of the smallest.
  DevicePages(int device, std::int64_t page_bytes) : device_(device), page_bytes_(page_bytes) {}

  std::int64_t page_bytes() const override { return page_bytes_; }
  std::optional<Page> make_page() override;
  void release_page(Page page) noexcept override;
  Address reserve(std::int64_t pages) override;
  void unreserve(Address address, std::int64_t pages) noexcept override;
  void map(Address address, std::span<const Page> pages) override;
  void unmap(Address address, std::int64_t pages) noexcept override;

 private:
  std::size_t bytes_of(std::int64_t pages) const {
    return static_cast<std::size_t>(pages * page_bytes_);
  }

  const int device_;
  const std::int64_t page_bytes_;
};

}  // namespace lowtide::cuda
