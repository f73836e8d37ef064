// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/cpu_device.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include <c10/core/CPUAllocator.h>

#include "base/check.h"
#include "run/tier/host_arena.h"
#include "run/torch/copy_speed.h"

namespace lowtide::run {
namespace {

using engine::Ledger;

Ledger& ledger_of_cpu() {
  static auto& ledger = *new Ledger;
  return ledger;
}

// The allocator below the gate, from the first installation on.
c10::Allocator* native = nullptr;

void free_block(void* data) {
  const auto block = ledger_of_cpu().remove_block(data);
  if (block && block->overflow != nullptr) {
    block->overflow->free_overflow(data, *block);
  } else {
    native->raw_deleter()(data);
  }
}

// torch's CPU allocator while the gate is installed: asks the ledger first.
class CpuGate final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes == 0) return native->allocate(0);
    const auto count = static_cast<std::int64_t>(bytes);
    if (engine::Overflow* overflow = ledger_of_cpu().admit(count)) {
      void* block = ledger_of_cpu().allocate_overflow(*overflow, count);
      return {block, block, &free_block, c10::Device(c10::kCPU)};
    }
    c10::DataPtr data = ask_native(count);
    void* address = data.get();
    const c10::Device device = data.device();
    data.release_context();
    ledger_of_cpu().add_block(address, count);
    return {address, address, &free_block, device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    native->copy_data(to, from, bytes);
  }

 private:
  // The machine may run out although the cap is kept: then more is evicted, until nothing is left.
  static c10::DataPtr ask_native(std::int64_t bytes) {
    for (;;) {
      std::string reason;
      try {
        return native->allocate(static_cast<std::size_t>(bytes));
      } catch (const std::exception& error) {
        reason = error.what();
        reason.resize(std::min(reason.size(), reason.find('\n')));  // the rest is a backtrace
      }
      if (ledger_of_cpu().evict_more(bytes)) continue;
      ledger_of_cpu().release(bytes);
      throw OutOfMemory(base::concat("out of memory. The machine has no room for ", bytes,
                                     " bytes, and nothing more can be evicted. ", reason),
                        bytes, ledger_of_cpu().held_bytes());
    }
  }
};

void* allocate_chunk(std::int64_t bytes) {
  void* chunk = nullptr;
  const int failure =
      posix_memalign(&chunk, tier::HostArena::kGranularityBytes, static_cast<std::size_t>(bytes));
  return failure == 0 ? chunk : nullptr;
}

// Start times and results of timings, by slot.
class Stopwatches {
 public:
  int start() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      free_.push_back(static_cast<int>(watches_.size()));
      watches_.emplace_back();
    }
    const int watch = free_.back();
    free_.pop_back();
    watches_[static_cast<std::size_t>(watch)].start = Clock::now();
    return watch;
  }
  void stop(int watch) {
    const Clock::time_point now = Clock::now();
    const std::lock_guard lock(mutex_);
    Watch& stopped = watches_[static_cast<std::size_t>(watch)];
    stopped.seconds = std::chrono::duration<double>(now - stopped.start).count();
  }
  double read(int watch) {
    const std::lock_guard lock(mutex_);
    free_.push_back(watch);
    return watches_[static_cast<std::size_t>(watch)].seconds;
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Watch {
    Clock::time_point start;
    double seconds = 0;
  };
  std::mutex mutex_;
  std::vector<Watch> watches_;
  std::vector<int> free_;
};

class CpuDevice final : public engine::Device, public engine::Overflow {
 public:
  std::string name() const override { return "cpu"; }
  Ledger& ledger() override { return ledger_of_cpu(); }

  void install() override {
    if (native == nullptr) native = c10::GetCPUAllocator();
    // The highest priority, or a request with a lower one than an earlier caller's would be
    // ignored.
    c10::SetCPUAllocator(&gate_, kHighest);
  }
  void remove() override { c10::SetCPUAllocator(native, kHighest); }
  void limit(std::optional<std::int64_t>) override {}

  bool is_native_deleter(void (*deleter)(void*)) const override {
    return deleter == native->raw_deleter() ||
           deleter == c10::GetDefaultCPUAllocator()->raw_deleter();
  }
  bool is_gate_deleter(void (*deleter)(void*)) const override { return deleter == &free_block; }
  void (*gate_deleter() const)(void*) override { return &free_block; }
  std::int64_t rounded(std::int64_t bytes) const override { return bytes; }
  bool counts_earlier_blocks() const override { return false; }

  Overflow& overflow() override { return *this; }
  void* allocate_overflow(std::int64_t bytes) override { return host_.allocate(bytes); }
  void free_overflow(void* data, const engine::Block&) noexcept override { host_.free(data); }
  void keep_as_host_copy(void* data) override { ledger_of_cpu().remove_block(data); }

  void* allocate_host(std::int64_t bytes) override { return host_.allocate(bytes); }
  void free_host(void* host) override { host_.free(host); }
  void reserve_host(std::int64_t bytes) override { host_.reserve(bytes); }
  void set_host_cap(std::int64_t bytes) override { host_.set_cap(bytes); }
  std::int64_t host_held_bytes() const override { return host_.held_bytes(); }
  std::int64_t host_peak_bytes() const override { return host_.peak_bytes(); }

  bool is_its_own_host() const override { return true; }
  void start_copy_out(void* host, const void* block, std::int64_t bytes, std::uint64_t) override {
    out_.copy(host, block, bytes);
  }
  void start_copy_in(void* block, void* host, std::int64_t bytes) override {
    in_.copy(block, host, bytes);
  }
  void finish_copy(const void*, void*) override {}
  void copy_within(void* to, const void* from, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void tick(std::uint64_t) override {}

  int start_timing() override { return watches_.start(); }
  void stop_timing(int timing) override { watches_.stop(timing); }
  std::optional<double> read_timing(int timing) override { return watches_.read(timing); }

  double copy_out_seconds(std::int64_t bytes) const override { return out_.seconds(bytes); }
  double copy_in_seconds(std::int64_t bytes) const override { return in_.seconds(bytes); }
  // Typical of one core.
  double memory_seconds(std::int64_t bytes) const override {
    return 1e-6 + static_cast<double>(bytes) / 6e9;
  }

 private:
  static constexpr std::uint8_t kHighest = 255;

  CpuGate gate_;
  tier::HostArena host_{&allocate_chunk, [](void* chunk, std::int64_t) { std::free(chunk); }, 0};
  // To host memory, which was used before, and from there to blocks that may be new.
  CopySpeed out_;
  CopySpeed in_;
  Stopwatches watches_;
};

}  // namespace

engine::Device& cpu_device() {
  static auto& device = *new CpuDevice;
  return device;
}

}  // namespace lowtide::run
