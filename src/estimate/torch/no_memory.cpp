// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/torch/no_memory.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "base/check.h"

namespace lowtide::estimate {
namespace {

// A process has 128 TiB of addresses.
constexpr std::size_t kRangeBytes = std::size_t{32} << 40;
constexpr std::size_t kAlignment = 64;
constexpr std::uint8_t kHighestPriority = 255;

// One row of addresses for the whole process. Blocks that were freed are given again to requests of
// the same size.
class Addresses {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    if (start_ != nullptr) return;
    void* range = ::mmap(nullptr, kRangeBytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) {
      throw DeviceError(base::concat(
          "an estimate needs ", base::format_bytes(static_cast<std::int64_t>(kRangeBytes)),
          " of addresses, without memory behind them, but the machine refuses them; see "
          "`ulimit -v` and vm.overcommit_memory"));
    }
    start_ = static_cast<std::byte*>(range);
    next_ = start_;
  }

  void* take(std::size_t bytes) {
    const std::size_t size = rounded(bytes);
    const std::lock_guard lock(mutex_);
    std::vector<void*>& free = free_[size];
    void* block = next_;
    if (!free.empty()) {
      block = free.back();
      free.pop_back();
    } else {
      const auto left = static_cast<std::size_t>(start_ + kRangeBytes - next_);
      if (size < bytes || size > left) {
        throw OutOfMemory(
            base::concat("a tensor of ", bytes, " bytes is more than an estimate can count"),
            static_cast<std::int64_t>(left), 0);
      }
      next_ += size;
    }
    sizes_[block] = size;
    return block;
  }

  void give_back(void* block) {
    const std::lock_guard lock(mutex_);
    const auto found = sizes_.find(block);
    free_[found->second].push_back(block);
    sizes_.erase(found);
  }

  bool owns(const void* block) const {
    return start_ != nullptr && block >= start_ && block < start_ + kRangeBytes;
  }

 private:
  static std::size_t rounded(std::size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  std::mutex mutex_;
  std::byte* start_ = nullptr;
  std::byte* next_ = nullptr;
  std::map<std::size_t, std::vector<void*>> free_;
  std::map<void*, std::size_t> sizes_;
};

Addresses& addresses() {
  static auto& all = *new Addresses;
  return all;
}

// Torch's allocator may have given a block before us that is freed meanwhile.
void free_block(void* block) {
  if (addresses().owns(block)) {
    addresses().give_back(block);
  } else {
    c10::GetDefaultCPUAllocator()->raw_deleter()(block);
  }
}

class AddressAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    void* block = bytes == 0 ? nullptr : addresses().take(bytes);
    return {block, block, &free_block, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};

AddressAllocator& allocator() {
  static auto& one = *new AddressAllocator;
  return one;
}

}  // namespace

NoMemory::NoMemory() : before_(c10::GetCPUAllocator()) {
  addresses().open();
  c10::SetCPUAllocator(&allocator(), kHighestPriority);
}

NoMemory::~NoMemory() { c10::SetCPUAllocator(before_, kHighestPriority); }

bool NoMemory::owns(const void* block) { return addresses().owns(block); }

}  // namespace lowtide::estimate
