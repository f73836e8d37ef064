// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace lowtide::engine {

// What a PageArena needs of a device with virtual memory: pages, addresses, and to bring the two
// together. One page may lie at several addresses at once. Throws DeviceError.
class PageMapper {
 public:
  using Page = std::uint64_t;
  using Address = std::uintptr_t;

  virtual ~PageMapper() = default;

  virtual std::int64_t page_bytes() const = 0;
  // Nothing when the device has no more memory.
  virtual std::optional<Page> make_page() = 0;
  // Requires: it lies at no address any more.
  virtual void release_page(Page page) noexcept = 0;

  // Addresses for so many pages in a row, with nothing there yet.
  virtual Address reserve(std::int64_t pages) = 0;
  virtual void unreserve(Address address, std::int64_t pages) noexcept = 0;
  virtual void map(Address address, std::span<const Page> pages) = 0;
  // Requires: nothing that was issued to the device still uses the addresses.
  virtual void unmap(Address address, std::int64_t pages) noexcept = 0;
};

}  // namespace lowtide::engine
