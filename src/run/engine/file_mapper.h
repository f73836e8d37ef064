// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "run/engine/page_mapper.h"

namespace lowtide::engine {

inline constexpr std::int64_t kPageBytes = 4096;
inline constexpr std::int64_t kUnitBytes = 1024;

// For tests: pages of a file in memory, which can really lie at several addresses.
class FileMapper final : public PageMapper {
 public:
  explicit FileMapper(std::int64_t most_pages) : most_pages_(most_pages) {
    EXPECT_EQ(ftruncate(file_, most_pages * kPageBytes), 0);
  }
  ~FileMapper() override { close(file_); }

  std::int64_t page_bytes() const override { return kPageBytes; }
  std::optional<Page> make_page() override {
    for (std::int64_t page = 0; page < most_pages_; ++page) {
      if (made.insert(static_cast<Page>(page)).second) return page;
    }
    return std::nullopt;
  }
  void release_page(Page page) noexcept override {
    EXPECT_EQ(mapped_[page], 0);
    made.erase(page);
  }
  Address reserve(std::int64_t pages) override {
    void* address = mmap(nullptr, static_cast<std::size_t>(pages * kPageBytes), PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ++reservations;
    return reinterpret_cast<Address>(address);
  }
  void unreserve(Address address, std::int64_t pages) noexcept override {
    munmap(reinterpret_cast<void*>(address), static_cast<std::size_t>(pages * kPageBytes));
    --reservations;
  }
  void map(Address address, std::span<const Page> pages) override {
    if (fails) throw std::runtime_error("no mapping today");
    for (const Page page : pages) {
      void* at = mmap(reinterpret_cast<void*>(address), kPageBytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED, file_, static_cast<off_t>(page * kPageBytes));
      ASSERT_NE(at, MAP_FAILED);
      ++mapped_[page];
      page_at_[address] = page;
      address += kPageBytes;
    }
    ++maps;
  }
  void unmap(Address address, std::int64_t pages) noexcept override {
    EXPECT_TRUE(is_idle) << "the device may still use it";
    for (std::int64_t i = 0; i < pages; ++i, address += kPageBytes) {
      mmap(reinterpret_cast<void*>(address), kPageBytes, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
      --mapped_[page_at_.at(address)];
      page_at_.erase(address);
    }
  }

  std::set<Page> made;
  int reservations = 0;
  int maps = 0;
  bool is_idle = true;
  bool fails = false;

 private:
  const std::int64_t most_pages_;
  const int file_ = memfd_create("pages", 0);
  std::map<Page, int> mapped_;
  std::map<Address, Page> page_at_;
};

}  // namespace lowtide::engine
