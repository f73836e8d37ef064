// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "run/cuda/device_pages.h"
#include "run/cuda/native_limit.h"
#include "run/engine/page_arena.h"

namespace lowtide::cuda {

// The large blocks of one GPU under a budget, on one stream, in pages of our own. Torch's allocator
// ("native") has the rest. To fill a budget, native would have to empty its cache, for which it
// waits for the device, whenever its free memory is in pieces; pages are put together anew without.
//
// The budget is divided: native gets what it has and a little more, pages the rest. The line
// between them moves when one side runs out; that waits for the device, and is rare.
class LargeBlocks {
 public:
  // Blocks of up to this size are native's.
  static constexpr std::int64_t kLargestSmallBytes = std::int64_t{1} << 20;

  // Pages come in so many sizes, each twice the one before. To map one takes some 40 microseconds,
  // whatever its size; but a small block in a large page keeps the rest of it from large blocks.
  static constexpr int kPageSizes = 4;
  // The size that fits a budget.
  static int page_size_for(std::int64_t budget_bytes);

  // Pages of other sizes on the same device, which count against the budget too. They outlive this
  // one's use.
  using Others = std::vector<const LargeBlocks*>;

  // Requires: DevicePages::work_on(device). `native` must outlive this.
  LargeBlocks(c10::cuda::CUDACachingAllocator::CUDAAllocator& native, c10::DeviceIndex device,
              std::int64_t device_bytes, int page_size);
  LargeBlocks(const LargeBlocks&) = delete;
  LargeBlocks& operator=(const LargeBlocks&) = delete;

  // Pages, those of the others and native together stay within the budget from now on.
  void start(std::int64_t budget_bytes, cudaStream_t stream, Others others);
  // No block is taken from now on; those that are out stay until they are freed.
  void stop();

  bool is_on() const { return is_on_.load(std::memory_order_acquire); }
  bool owns(void* data) const { return arena_.owns(data); }
  bool takes(std::int64_t bytes, cudaStream_t stream) const {
    return bytes > kLargestSmallBytes && is_on() &&
           stream == stream_.load(std::memory_order_relaxed);
  }
  std::int64_t rounded(std::int64_t bytes) const { return arena_.rounded(bytes); }
  // Null: too few pages are free, or none in a row, and addresses for some may not be made.
  void* allocate(std::int64_t bytes, bool may_stitch = true);
  // What has to be moved for a block that was refused.
  std::unique_ptr<engine::MovableBlocks> room_for(std::int64_t bytes);
  // Where blocks that have places of their own should be.
  std::unique_ptr<engine::MovableBlocks> homecomings();
  // See PageArena.
  bool is_laid_out() const { return arena_.is_laid_out(); }
  // About how much must be freed for it then.
  std::int64_t missing_bytes(std::int64_t bytes) const { return arena_.missing_bytes(bytes); }
  // The stream uses the block too, other than in the order of ours. False: it is none of ours.
  bool record_stream(void* data, cudaStream_t stream);
  // False: it is none of ours.
  bool free(void* data);

  // Native needs more than it was given. False: the pages cannot spare it.
  bool give_to_native(std::int64_t bytes);
  // Takes back what native does not need. False: nothing.
  bool take_from_native();
  // The same, but only if it has far too much, as when what it held is in pages by now; it keeps a
  // little.
  bool take_spare_from_native();
  void begin_step() { arena_.begin_step(); }
  // Gives pages back that nobody uses. False: there were none.
  bool trim();

  std::int64_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }
  std::int64_t used_peak_bytes() const { return used_peak_bytes_.load(std::memory_order_relaxed); }
  std::int64_t page_bytes() const { return arena_.pages() * arena_.page_bytes(); }
  // The most that pages were, and the most that pages and native together could have been.
  std::int64_t page_peak_bytes() const { return page_peak_bytes_.load(std::memory_order_relaxed); }
  std::int64_t shared_peak_bytes() const {
    return shared_peak_bytes_.load(std::memory_order_relaxed);
  }
  void reset_peaks();
  std::int64_t stitches() const { return arena_.stitches(); }
  // How the budget is divided, for whoever got nothing of it.
  std::string division();

 private:
  // These need mutex_.
  void forget_peaks();
  void give_native(std::int64_t bytes);
  std::int64_t pages_to_make() const;
  std::int64_t all_page_bytes() const;
  void shrink_to_share();
  bool take_back(std::int64_t headroom_bytes);
  void note_peaks();
  void order_after_other_streams(void* data);

  c10::cuda::CUDACachingAllocator::CUDAAllocator& native_;
  const c10::DeviceIndex device_;
  DevicePages pages_;
  engine::PageArena arena_;

  std::atomic<bool> is_on_{false};
  std::atomic<cudaStream_t> stream_{nullptr};
  std::atomic<std::int64_t> used_bytes_{0};
  std::atomic<std::int64_t> used_peak_bytes_{0};
  std::atomic<std::int64_t> page_peak_bytes_{0};
  std::atomic<std::int64_t> shared_peak_bytes_{0};

  std::mutex mutex_;
  // Guarded by mutex_.
  NativeLimit native_limit_;
  std::int64_t budget_bytes_ = 0;
  std::int64_t native_bytes_ = 0;
  Others others_;
  // What native had allocated when its spare memory was last asked for.
  std::int64_t allocated_when_asked_ = std::numeric_limits<std::int64_t>::max();
  std::map<void*, std::set<cudaStream_t>> other_streams_;
};

}  // namespace lowtide::cuda
