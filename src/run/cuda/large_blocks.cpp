// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/cuda/large_blocks.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include <c10/cuda/CUDAGuard.h>

#include "base/bytes.h"
#include "base/check.h"
#include "run/cuda/check.h"

namespace lowtide::cuda {
namespace {

// What native is given beyond what it has: one growth of its large blocks, and some small ones.
constexpr std::int64_t kNativeHeadroomBytes = NativeLimit::kGrowthBytes + (std::int64_t{24} << 20);

// Native's spare memory is worth waiting for the device if it is such a share of the budget.
constexpr std::int64_t kSpareShare = 32;

// So many fill a budget at least, unless they are the smallest.
constexpr std::int64_t kLeastPages = 256;

std::int64_t bytes_of(int page_size) { return DevicePages::kSmallestPageBytes << page_size; }

constexpr std::int64_t kUnitBytes = std::int64_t{64} << 10;

void raise(std::atomic<std::int64_t>& peak, std::int64_t value) {
  std::int64_t known = peak.load(std::memory_order_relaxed);
  while (value > known && !peak.compare_exchange_weak(known, value, std::memory_order_relaxed)) {
  }
}

std::int64_t reserved_bytes(c10::cuda::CUDACachingAllocator::CUDAAllocator& native,
                            c10::DeviceIndex device) {
  return native.getDeviceStats(device).reserved_bytes[0].current;
}

void wait_for(c10::DeviceIndex device) {
  const c10::cuda::CUDAGuard guard(device);
  LT_CUDA(cudaDeviceSynchronize());
}

// Blocks of an arena that change their places as `choose` says.
class PageMoves final : public engine::MovableBlocks {
 public:
  using MayMove = std::function<bool(void*)>;
  using Choose = std::function<std::vector<engine::BlockMove>(const MayMove&)>;

  PageMoves(engine::PageArena& arena, Choose choose) : arena_(arena), choose_(std::move(choose)) {}
  std::vector<engine::BlockMove> choose(const MayMove& may_move) override {
    return choose_(may_move);
  }
  void settle(const engine::BlockMove& move, bool is_done) override {
    arena_.settle(move, is_done);
  }

 private:
  engine::PageArena& arena_;
  const Choose choose_;
};

}  // namespace

int LargeBlocks::page_size_for(std::int64_t budget_bytes) {
  int size = 0;
  while (size + 1 < kPageSizes && budget_bytes >= kLeastPages * bytes_of(size + 1)) ++size;
  return size;
}

LargeBlocks::LargeBlocks(c10::cuda::CUDACachingAllocator::CUDAAllocator& native,
                         c10::DeviceIndex device, std::int64_t device_bytes, int page_size)
    : native_(native),
      device_(device),
      pages_(device, bytes_of(page_size)),
      arena_(pages_, kUnitBytes, device_bytes / pages_.page_bytes(),
             [device] { wait_for(device); }),
      native_limit_(native, device, device_bytes) {}

void LargeBlocks::start(std::int64_t budget_bytes, cudaStream_t stream, Others others) {
  {
    const std::lock_guard lock(mutex_);
    budget_bytes_ = budget_bytes;
    others_ = std::move(others);
    if (!is_on()) forget_peaks();
    allocated_when_asked_ = std::numeric_limits<std::int64_t>::max();
    give_native(reserved_bytes(native_, device_) + kNativeHeadroomBytes);
    shrink_to_share();
  }
  // What is freed is used again in the order of one stream.
  if (stream != stream_.load(std::memory_order_relaxed) && arena_.pages() > 0) {
    wait_for(device_);
  }
  stream_.store(stream, std::memory_order_relaxed);
  is_on_.store(true, std::memory_order_release);
}

void LargeBlocks::stop() {
  is_on_.store(false, std::memory_order_release);
  const std::lock_guard lock(mutex_);
  budget_bytes_ = 0;
  native_limit_.lift();
  shrink_to_share();
}

void LargeBlocks::give_native(std::int64_t bytes) {
  native_bytes_ = bytes;
  native_limit_.set(bytes);
}

std::int64_t LargeBlocks::pages_to_make() const {
  const std::int64_t share = budget_bytes_ - native_bytes_ - all_page_bytes();
  return std::max<std::int64_t>(0, share / arena_.page_bytes());
}

std::int64_t LargeBlocks::all_page_bytes() const {
  std::int64_t bytes = page_bytes();
  for (const LargeBlocks* other : others_) bytes += other->page_bytes();
  return bytes;
}

void LargeBlocks::shrink_to_share() {
  const std::int64_t over =
      all_page_bytes() - std::max<std::int64_t>(0, budget_bytes_ - native_bytes_);
  if (over > 0) arena_.shrink((over + arena_.page_bytes() - 1) / arena_.page_bytes());
}

void* LargeBlocks::allocate(std::int64_t bytes, bool may_stitch) {
  // Held to the end: nobody else makes the new pages meanwhile.
  const std::lock_guard lock(mutex_);
  const std::int64_t new_pages = pages_to_make();
  if (!is_on()) return nullptr;
  void* data = arena_.allocate(bytes, new_pages, may_stitch);
  if (new_pages > 0) note_peaks();
  if (data == nullptr) return nullptr;
  const std::int64_t size = rounded(bytes);
  raise(used_peak_bytes_, used_bytes_.fetch_add(size, std::memory_order_relaxed) + size);
  return data;
}

std::unique_ptr<engine::MovableBlocks> LargeBlocks::room_for(std::int64_t bytes) {
  return std::make_unique<PageMoves>(arena_, [this, bytes](const PageMoves::MayMove& may_move) {
    return arena_.choose_moves(bytes, may_move);
  });
}

std::unique_ptr<engine::MovableBlocks> LargeBlocks::homecomings() {
  return std::make_unique<PageMoves>(arena_, [this](const PageMoves::MayMove& may_move) {
    return arena_.choose_homecomings(may_move);
  });
}

void LargeBlocks::note_peaks() {
  raise(page_peak_bytes_, page_bytes());
  raise(shared_peak_bytes_, all_page_bytes() + native_bytes_);
}

bool LargeBlocks::record_stream(void* data, cudaStream_t stream) {
  if (!arena_.owns(data)) return false;
  if (stream == stream_.load(std::memory_order_relaxed)) return true;
  const std::lock_guard lock(mutex_);
  other_streams_[data].insert(stream);
  return true;
}

// Whoever gets the pages next comes after what the other streams were given to do so far.
void LargeBlocks::order_after_other_streams(void* data) {
  const auto found = other_streams_.find(data);
  if (found == other_streams_.end()) return;
  const c10::cuda::CUDAGuard guard(device_);
  cudaEvent_t event = nullptr;
  LT_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  for (cudaStream_t stream : found->second) {
    LT_CUDA(cudaEventRecord(event, stream));
    LT_CUDA(cudaStreamWaitEvent(stream_.load(std::memory_order_relaxed), event, 0));
  }
  LT_CUDA(cudaEventDestroy(event));
  other_streams_.erase(found);
}

bool LargeBlocks::free(void* data) {
  {
    const std::lock_guard lock(mutex_);
    order_after_other_streams(data);
  }
  const std::int64_t bytes = arena_.free(data);
  if (bytes == 0) return false;
  used_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  // Nobody will ask for them again; but not one wait for the device for each block.
  if (!is_on() && 2 * arena_.free_pages() >= arena_.pages()) trim();
  return true;
}

bool LargeBlocks::give_to_native(std::int64_t bytes) {
  const c10::cuda::CUDAGuard guard(device_);
  const std::lock_guard lock(mutex_);
  if (!is_on()) return false;
  const std::int64_t growth = NativeLimit::kGrowthBytes;
  const std::int64_t more = (bytes + growth - 1) / growth * growth;
  const std::int64_t spare =
      budget_bytes_ - native_bytes_ - all_page_bytes() + arena_.free_pages() * arena_.page_bytes();
  if (more > spare) return false;
  native_bytes_ += more;
  shrink_to_share();
  native_limit_.set(native_bytes_);
  note_peaks();
  return true;
}

bool LargeBlocks::take_from_native() {
  const c10::cuda::CUDAGuard guard(device_);
  const std::lock_guard lock(mutex_);
  return is_on() && take_back(0);
}

bool LargeBlocks::take_spare_from_native() {
  const c10::cuda::CUDAGuard guard(device_);
  const std::lock_guard lock(mutex_);
  if (!is_on()) return false;
  const std::int64_t allocated = native_.getDeviceStats(device_).allocated_bytes[0].current;
  const std::int64_t worth_it = budget_bytes_ / kSpareShare;
  // What was of no use the last time may lie between blocks that native still has.
  const bool is_news = allocated <= allocated_when_asked_ - worth_it;
  if (native_bytes_ - allocated - kNativeHeadroomBytes < worth_it || !is_news) return false;
  allocated_when_asked_ = allocated;
  return take_back(kNativeHeadroomBytes);
}

bool LargeBlocks::take_back(std::int64_t headroom_bytes) {
  native_.emptyCache();
  const std::int64_t needed = reserved_bytes(native_, device_) + headroom_bytes;
  if (native_bytes_ - needed < arena_.page_bytes()) return false;
  give_native(needed);
  // Another thread may have made it grow until the limit was set.
  native_bytes_ = std::max(native_bytes_, reserved_bytes(native_, device_));
  return true;
}

bool LargeBlocks::trim() {
  const c10::cuda::CUDAGuard guard(device_);
  return arena_.shrink(arena_.free_pages()) > 0;
}

std::string LargeBlocks::division() {
  const std::lock_guard lock(mutex_);
  const auto stats = native_.getDeviceStats(device_);
  const std::int64_t others = all_page_bytes() - page_bytes();
  return base::concat(
      base::format_bytes(page_bytes()), " are pages of ", base::format_bytes(arena_.page_bytes()),
      ", ", arena_.free_pages(), " of them free; ", base::format_bytes(others),
      " are pages of other sizes; torch's allocator may have ", base::format_bytes(native_bytes_),
      ", has reserved ", base::format_bytes(stats.reserved_bytes[0].current), " and uses ",
      base::format_bytes(stats.allocated_bytes[0].current), ".");
}

void LargeBlocks::reset_peaks() {
  const std::lock_guard lock(mutex_);
  forget_peaks();
}

void LargeBlocks::forget_peaks() {
  used_peak_bytes_.store(used_bytes());
  page_peak_bytes_.store(page_bytes());
  shared_peak_bytes_.store(all_page_bytes() + native_bytes_);
}

}  // namespace lowtide::cuda
