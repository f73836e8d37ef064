// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "run/cuda/delegating_allocator.h"
#include "run/cuda/large_blocks.h"
#include "run/engine/ledger.h"

namespace lowtide::cuda {

// The gate of all CUDA devices: stands before torch's own allocator ("native"), asks the device's
// ledger before each allocation and tells it of each free. Torch calls it from any thread. There is
// one for the process and it is never destroyed, since storages keep a pointer to it and blocks
// outlive every session. On a device that is not active it passes everything on.
//
// The ledger is kept true by resync(): blocks that native frees or hands out behind our back (those
// of before the gate, storages made before it that are resized) show as a difference to native's
// own count, and are looked for only when the cap would be passed.
class CudaGate final : public DelegatingAllocator {
 public:
  static CudaGate& instance();
  CudaGate(const CudaGate&) = delete;
  CudaGate& operator=(const CudaGate&) = delete;

  // Puts the gate before native for this device, which must be there; counts what is allocated.
  void activate(DeviceIndex device);
  // Takes it away; with the last device native is torch's allocator again.
  void deactivate(DeviceIndex device);

  engine::Ledger& ledger(DeviceIndex device) { return state(device).ledger; }
  CUDAAllocator& native_allocator() const { return native(); }
  // From now on large blocks of the stream lie in pages of our own, and these and native together
  // stay within the budget. False: the device cannot do that.
  bool start_large_blocks(DeviceIndex device, std::int64_t budget_bytes, cudaStream_t stream);
  void stop_large_blocks(DeviceIndex device);
  std::int64_t stitches(DeviceIndex device);
  void end_step(DeviceIndex device);
  // The ledger's held bytes become what native has handed out. Does nothing while other threads
  // allocate or free: the next call will.
  void resync(DeviceIndex device);
  // Blocks are filled with 0xFF before they are freed, so that a late reader shows.
  void set_poison(bool is_on) { poisons_.store(is_on, std::memory_order_relaxed); }

  c10::DeleterFnPtr native_deleter() const { return native_deleter_; }
  static void gate_free(void* data);

  // What counts against the cap for a request of this many bytes, of native and of the device's
  // usual stream.
  static std::int64_t rounded_by_native(std::size_t bytes);
  std::int64_t rounded(DeviceIndex device, std::size_t bytes);

  c10::DataPtr allocate(std::size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override { return &gate_free; }
  void* raw_alloc(std::size_t bytes) override;
  void* raw_alloc_with_stream(std::size_t bytes, cudaStream_t stream) override;
  void raw_delete(void* data) override;
  void emptyCache(MempoolId pool = {0, 0}) override;
  // Of native and of the pages together. Peaks are no less than the true ones.
  caching::DeviceStats getDeviceStats(DeviceIndex device) override;
  void resetPeakStats(DeviceIndex device) override;
  void* getBaseAllocation(void* data, std::size_t* bytes) override;
  cudaError_t memcpyAsync(void* to, int to_device, const void* from, int from_device,
                          std::size_t bytes, cudaStream_t stream, bool p2p_enabled) override;
  using DelegatingAllocator::recordStream;
  void recordStream(const c10::DataPtr& data, c10::cuda::CUDAStream stream) override;
  caching::ShareableHandle shareIpcHandle(void* data) override;
  void beginAllocateToPool(DeviceIndex device, MempoolId pool,
                           std::function<bool(cudaStream_t)> filter) override;
  void endAllocateToPool(DeviceIndex device, MempoolId pool) override;
  caching::CheckpointDelta setCheckpointPoolState(
      DeviceIndex device, std::shared_ptr<caching::AllocatorState> pool_state) override;

 private:
  struct DeviceState {
    // Null until they were first used.
    LargeBlocks* large_blocks() const { return used_large.load(std::memory_order_acquire); }
    // With pages of every size; none until they were first used.
    std::span<const std::unique_ptr<LargeBlocks>> all_large_blocks() const {
      if (large_blocks() == nullptr) return {};
      return large;
    }
    bool has_in_pages(void* data) const;

    engine::Ledger ledger;
    std::atomic<bool> is_active{false};
    // The one that takes blocks. They outlive their session, and may lie in any of the others.
    std::atomic<LargeBlocks*> used_large{nullptr};
    // By the size of their pages, from the smallest on. Made before the first use, and kept:
    // another thread may be using them.
    std::array<std::unique_ptr<LargeBlocks>, LargeBlocks::kPageSizes> large;
  };
  // What is asked of native.
  struct Request {
    DeviceIndex device;
    // What counts.
    std::int64_t bytes;
    cudaStream_t stream;
    // The pages that it goes to; null: it goes to native.
    LargeBlocks* large;
  };
  // A private pool that allocations go to now: of a CUDA graph's capture or of a MemPool.
  struct OpenPool {
    DeviceIndex device;
    MempoolId id;
    std::function<bool(cudaStream_t)> filter;
  };
  class Reservation;
  class BusyMark;

  explicit CudaGate(CUDAAllocator* native);
  void make_large_blocks(DeviceIndex device);
  // Gives pages back that the budget before this one left. False: none is free.
  bool trim_other_pages(const Request& request);
  DeviceState& state(DeviceIndex device) { return states_.at(static_cast<std::size_t>(device)); }
  // Whether the cap would be passed, by the ledger's count.
  bool is_short(const Request& request);
  // As Ledger::admit().
  engine::Overflow* admit(const Request& request);
  Request make_request(DeviceIndex device, std::size_t bytes, cudaStream_t stream);
  void* take_block(Request request, std::size_t bytes);
  // Null: there is no room.
  void* take_pages(const Request& request);
  void* try_to_take(const Request& request, std::size_t bytes, std::string& reason);
  // Null: there is no room, and `overflow` is to take the block.
  void* take_or_evict(Request& request, std::size_t bytes, engine::Overflow*& overflow);
  // For a block that there are no pages for. Null: there is none; else the request is native's.
  void* take_gap_of_native(Request& request, std::size_t bytes);
  void note_block(void* data, const Request& request);
  bool goes_to_private_pool(DeviceIndex device, cudaStream_t stream);
  bool may_evict(DeviceIndex device, cudaStream_t stream);
  void free_block(void* data, void (*free_native)(void*));
  void poison(void* data);
  void mark_as_staying(void* data);

  const c10::DeleterFnPtr native_deleter_;
  // One for each device that there was at the first use.
  std::vector<DeviceState> states_;
  std::atomic<bool> poisons_{false};

  std::mutex install_mutex_;
  int active_devices_ = 0;  // Guarded by install_mutex_.

  // How often a thread began and ended to change ledger and native together. Equal and unchanged
  // means that a comparison of the two saw nothing half done, for which all accesses are in one
  // total order.
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<std::uint64_t> ended_{0};
  std::mutex resync_mutex_;

  std::mutex pools_mutex_;
  std::vector<OpenPool> open_pools_;  // Guarded by pools_mutex_.
  // Their number, so that the usual case needs no lock.
  std::atomic<std::size_t> open_pool_count_{0};
};

}  // namespace lowtide::cuda
