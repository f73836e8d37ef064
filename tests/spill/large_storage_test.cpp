// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// A value of ten gigabytes, as it would lie in host memory, but with little memory behind it: the
// same 64 MiB again and again.
#include <cstdint>
#include <cstring>
#include <iostream>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/random.h"
#include "run/engine/host_cache.h"
#include "run/tier/spill_file.h"
#include "run/tier/spill_folder.h"
#include "run/tier/tier_test.h"

namespace lowtide::tier {
namespace {

constexpr std::int64_t kMemoryBytes = std::int64_t{64} << 20;
constexpr std::int64_t kValueBytes = 10'000'000'000;

class RepeatedMemory {
 public:
  explicit RepeatedMemory(std::int64_t bytes)
      : size_(static_cast<std::size_t>((bytes + kMemoryBytes - 1) / kMemoryBytes * kMemoryBytes)) {
    const int memory = memfd_create("repeated", MFD_CLOEXEC);
    is_there_ = memory >= 0 && ftruncate(memory, kMemoryBytes) == 0;
    void* range = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    is_there_ = is_there_ && range != MAP_FAILED;
    data_ = static_cast<std::byte*>(range);
    for (std::size_t done = 0; is_there_ && done < size_; done += kMemoryBytes) {
      is_there_ = mmap(data_ + done, kMemoryBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                       memory, 0) != MAP_FAILED;
    }
    close(memory);
  }
  ~RepeatedMemory() { munmap(data_, size_); }
  RepeatedMemory(const RepeatedMemory&) = delete;
  RepeatedMemory& operator=(const RepeatedMemory&) = delete;

  bool is_there() const { return is_there_; }
  std::byte* data() const { return data_; }
  void fill(std::uint64_t seed) {
    base::Random random(seed);
    auto* words = reinterpret_cast<std::uint64_t*>(data_);
    for (std::int64_t i = 0; i < kMemoryBytes / 8; ++i) words[i] = random.next();
  }

 private:
  const std::size_t size_;
  std::byte* data_ = nullptr;
  bool is_there_ = false;
};

// Room for one value at a time.
class RoomForOne final : public engine::HostMemory {
 public:
  explicit RoomForOne(RepeatedMemory& memory) : memory_(memory) {}

  void* allocate_host(std::int64_t bytes) override {
    if (held_bytes_ > 0) return nullptr;
    held_bytes_ = bytes;
    return memory_.data();
  }
  void free_host(void*) override { held_bytes_ = 0; }
  void set_host_cap(std::int64_t) override {}
  std::int64_t host_held_bytes() const override { return held_bytes_; }
  std::int64_t host_peak_bytes() const override { return held_bytes_; }

 private:
  RepeatedMemory& memory_;
  std::int64_t held_bytes_ = 0;
};

TEST(LargeStorage, OfTenGigabytesGoesToDiskAndComesBack) {
  const TempFolder folder;
  if (free_bytes_in(folder.path()) < kValueBytes + kValueBytes / 4) {
    GTEST_SKIP() << "too little room on the disk of the build folder";
  }
  RepeatedMemory memory(kValueBytes);
  ASSERT_TRUE(memory.is_there());
  const auto file = std::make_shared<SpillFile>(
      SpillOptions{.folder = folder.path(), .cap_bytes = kValueBytes + (1 << 20)});
  RoomForOne host(memory);
  engine::HostCache cache(host);
  cache.set_file(file, kValueBytes);
  engine::HostCopy large;
  engine::HostCopy small;
  ASSERT_NE(cache.allocate(large, kValueBytes), nullptr);
  memory.fill(1);
  const std::vector<std::byte> expected(memory.data(), memory.data() + kMemoryBytes);
  // There is room for it when the large one is in the file.
  ASSERT_NE(cache.allocate(small, 100), nullptr);
  EXPECT_TRUE(large.is_in_file());
  memory.fill(2);
  cache.free(small);
  // The checksums of its pieces differ though the bytes repeat themselves.
  ASSERT_EQ(cache.bytes(large), memory.data());
  EXPECT_EQ(std::memcmp(memory.data(), expected.data(), expected.size()), 0);
  cache.free(large);
  EXPECT_GE(file->stats().read_bytes, kValueBytes);
  std::cout << "written at " << file->write_bytes_per_second() / 1e9 << " GB/s, read at "
            << file->read_bytes_per_second() / 1e9 << " GB/s by " << file->io_name() << "\n";
}

}  // namespace
}  // namespace lowtide::tier
