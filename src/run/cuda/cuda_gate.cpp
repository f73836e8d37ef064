// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/cuda/cuda_gate.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>
#include <utility>

#include <c10/core/Allocator.h>
#include <c10/core/AllocatorConfig.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "base/bytes.h"
#include "base/check.h"
#include "run/cuda/check.h"
#include "run/cuda/graph_capture.h"

namespace lowtide::cuda {

namespace {

using Config = c10::CachingAllocator::AcceleratorAllocatorConfig;

// Blocks that lie in each other's places take several rounds to come home.
constexpr int kMostRounds = 200;

constexpr std::size_t kBlockBytes = c10::CachingAllocator::kMinBlockSize;

// Torch keeps the pointer in two places: nearly all code reads the first, torch.accelerator's
// functions and some of c10::Storage's read the second.
void publish(caching::CUDAAllocator* allocator) {
  caching::allocator.store(allocator);
  c10::SetAllocator(c10::kCUDA, allocator);
}

// What native cannot use of the budget, because it is in pieces, differs from model to model; every
// refusal, for which native waits for the device, says that more should stay free.
void widen_margin(engine::Ledger& ledger) {
  const std::int64_t budget = ledger.budget_bytes();
  if (budget == engine::Ledger::kNoBudget) return;
  ledger.set_margin(std::min(ledger.margin_bytes() + budget / 200, budget / 10));
}

OutOfMemory device_refusal(const engine::Ledger& ledger, std::int64_t bytes,
                           const std::string& reason) {
  const std::int64_t held = ledger.held_bytes() - bytes;
  // The budget was large enough for the bytes and was not for the pieces they lie in.
  const std::int64_t needed = std::max(held, ledger.budget_bytes());
  return {base::concat("out of memory. The device has no room for ", base::format_bytes(bytes),
                       " although only ", base::format_bytes(held), " of the budget of ",
                       base::format_bytes(ledger.budget_bytes()),
                       " are held, and nothing more can be evicted: ", reason),
          bytes, needed};
}

// How native rounds where the user has set roundup_power2_divisions: up to the next of so many
// equal steps between two powers of two.
std::size_t round_to_division(std::size_t bytes, std::size_t divisions) {
  const std::size_t floor = std::bit_floor(bytes);
  const std::size_t step = std::max<std::size_t>(floor / divisions, 1);
  return (bytes + step - 1) / step * step;
}

void add_pages(caching::DeviceStats& stats, const LargeBlocks& large) {
  for (const std::size_t type : {std::size_t{0}, std::size_t{2}}) {  // All blocks, and large ones.
    for (auto* used : {&stats.allocated_bytes, &stats.active_bytes, &stats.requested_bytes}) {
      (*used)[type].current += large.used_bytes();
      (*used)[type].peak += large.used_peak_bytes();
    }
    stats.reserved_bytes[type].current += large.page_bytes();
    stats.reserved_bytes[type].peak += large.page_peak_bytes();
  }
}

}  // namespace

// Bytes that the ledger has admitted; given back unless they are kept.
class CudaGate::Reservation {
 public:
  Reservation(engine::Ledger& ledger, std::int64_t bytes) : ledger_(ledger), bytes_(bytes) {}
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation() { ledger_.release(bytes_); }
  void keep() { bytes_ = 0; }

 private:
  engine::Ledger& ledger_;
  std::int64_t bytes_;
};

// From its start to its end, ledger and native may differ.
class CudaGate::BusyMark {
 public:
  explicit BusyMark(CudaGate& gate) : gate_(gate) { gate_.begun_.fetch_add(1); }
  BusyMark(const BusyMark&) = delete;
  BusyMark& operator=(const BusyMark&) = delete;
  ~BusyMark() { gate_.ended_.fetch_add(1); }

 private:
  CudaGate& gate_;
};

CudaGate& CudaGate::instance() {
  static CudaGate* const gate = new CudaGate(caching::get());
  return *gate;
}

CudaGate::CudaGate(CUDAAllocator* native)
    : DelegatingAllocator(native),
      native_deleter_(native->raw_deleter()),
      states_(static_cast<std::size_t>(c10::cuda::device_count())) {}

void CudaGate::activate(DeviceIndex device) {
  LT_REQUIRE(std::getenv("PYTORCH_NO_CUDA_MEMORY_CACHING") == nullptr,
             "a budget needs torch's caching allocator: unset PYTORCH_NO_CUDA_MEMORY_CACHING");
  LT_REQUIRE(native().name() == "native",
             "a budget needs torch's native CUDA allocator; the one in use: ", native().name());
  const std::lock_guard lock(install_mutex_);
  if (state(device).is_active) return;
  if (!native().initialized()) native().init(c10::cuda::device_count());
  if (active_devices_ == 0) {
    LT_REQUIRE(caching::get() == &native(),
               "torch's CUDA allocator was exchanged after Lowtide was first used");
    publish(this);
  }
  ++active_devices_;
  state(device).is_active = true;
  resync(device);
}

void CudaGate::deactivate(DeviceIndex device) {
  const std::lock_guard lock(install_mutex_);
  if (!state(device).is_active) return;
  state(device).is_active = false;
  --active_devices_;
  // Whoever put something else before us keeps it.
  if (active_devices_ == 0 && caching::get() == this) publish(&native());
}

void CudaGate::resync(DeviceIndex device) {
  const std::lock_guard lock(resync_mutex_);
  engine::Ledger& ledger = state(device).ledger;
  const std::uint64_t ended = ended_.load();
  if (begun_.load() != ended) return;
  const auto stats = native().getDeviceStats(device);
  std::int64_t paged = 0;
  for (const auto& large : state(device).all_large_blocks()) paged += large->used_bytes();
  const std::int64_t missing = stats.allocated_bytes[0].current + paged - ledger.held_bytes();
  if (begun_.load() == ended) ledger.count_outside(missing);
}

std::int64_t CudaGate::rounded(DeviceIndex device, std::size_t bytes) {
  const auto size = static_cast<std::int64_t>(bytes);
  const LargeBlocks* large = state(device).large_blocks();
  const bool is_paged =
      large != nullptr && large->is_on() && size > LargeBlocks::kLargestSmallBytes;
  return is_paged ? large->rounded(size) : rounded_by_native(bytes);
}

std::int64_t CudaGate::rounded_by_native(std::size_t bytes) {
  const std::size_t size = std::max(bytes, kBlockBytes);
  const std::size_t divisions = Config::roundup_power2_divisions(size);
  const std::size_t rounded = divisions > 1 && size > kBlockBytes * divisions
                                  ? round_to_division(size, divisions)
                                  : (size + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
  return static_cast<std::int64_t>(rounded);
}

bool CudaGate::goes_to_private_pool(DeviceIndex device, cudaStream_t stream) {
  if (open_pool_count_.load(std::memory_order_acquire) == 0) return false;
  const std::lock_guard lock(pools_mutex_);
  return std::any_of(open_pools_.begin(), open_pools_.end(), [&](const OpenPool& pool) {
    return pool.device == device && pool.filter(stream);
  });
}

// What an eviction frees is of no use to a private pool, and its copies must not become part of a
// captured graph.
bool CudaGate::may_evict(DeviceIndex device, cudaStream_t stream) {
  return !goes_to_private_pool(device, stream) && !is_capturing(stream);
}

bool CudaGate::is_short(const Request& request) {
  const engine::Ledger& ledger = state(request.device).ledger;
  return request.bytes > ledger.budget_bytes() - ledger.held_bytes();
}

engine::Overflow* CudaGate::admit(const Request& request) {
  engine::Ledger& ledger = state(request.device).ledger;
  if (!is_short(request) || may_evict(request.device, request.stream)) {
    return ledger.admit(request.bytes);
  }
  ledger.admit_without_evicting(request.bytes);
  return nullptr;
}

// Large blocks lie in pages, but not those of captured graphs and memory pools, which torch always
// announces by opening a pool.
CudaGate::Request CudaGate::make_request(DeviceIndex device, std::size_t bytes,
                                         cudaStream_t stream) {
  const auto size = static_cast<std::int64_t>(bytes);
  LargeBlocks* large = state(device).large_blocks();
  const bool is_paged =
      large != nullptr && large->takes(size, stream) && !goes_to_private_pool(device, stream);
  return {device, is_paged ? large->rounded(size) : rounded_by_native(bytes), stream,
          is_paged ? large : nullptr};
}

// To move a few blocks on the device takes it less time than the host takes to give a row of pages
// new addresses. But where blocks have places of their own, one that is moved is in the way of
// others.
void* CudaGate::take_pages(const Request& request) {
  LargeBlocks& large = *request.large;
  if (void* data = large.allocate(request.bytes, /*may_stitch=*/large.is_laid_out())) return data;
  const bool may_move = request.stream == c10::cuda::getCurrentCUDAStream(request.device) &&
                        may_evict(request.device, request.stream);
  if (may_move && ledger(request.device).move_together(*large.room_for(request.bytes))) {
    if (void* data = large.allocate(request.bytes, /*may_stitch=*/false)) return data;
  }
  return large.allocate(request.bytes);
}

void* CudaGate::try_to_take(const Request& request, std::size_t bytes, std::string& reason) {
  // Its session may have ended since.
  if (request.large != nullptr && request.large->is_on()) {
    void* data = take_pages(request);
    if (data == nullptr)
      reason = "too few pages are free. Of the budget " + request.large->division();
    return data;
  }
  LargeBlocks* large = state(request.device).large_blocks();
  do {
    try {
      return native().raw_alloc_with_stream(bytes, request.stream);
    } catch (const c10::OutOfMemoryError& error) {
      reason = "torch's allocator says: " + error.msg();
    }
  } while (large != nullptr && large->give_to_native(request.bytes));
  if (large == nullptr) widen_margin(ledger(request.device));
  return nullptr;
}

// Tried until there is room or nothing is left to evict. Native empties its cache by itself before
// it gives up, so there is no need to do that here.
void* CudaGate::take_or_evict(Request& request, std::size_t bytes, engine::Overflow*& overflow) {
  engine::Ledger& ledger = state(request.device).ledger;
  Reservation reservation(ledger, request.bytes);
  for (;;) {
    std::string reason;
    if (void* data = try_to_take(request, bytes, reason)) {
      reservation.keep();
      return data;
    }
    const bool may_go_elsewhere = may_evict(request.device, request.stream);
    overflow = may_go_elsewhere ? ledger.overflow() : nullptr;
    if (overflow != nullptr) return nullptr;
    const std::int64_t missing =
        request.large != nullptr ? request.large->missing_bytes(request.bytes) : request.bytes;
    if (trim_other_pages(request)) continue;
    if (request.large != nullptr && request.large->take_spare_from_native()) continue;
    if (may_go_elsewhere && ledger.evict_more(missing)) continue;
    if (request.large != nullptr && request.large->take_from_native()) continue;
    if (void* data = take_gap_of_native(request, bytes)) {
      reservation.keep();
      return data;
    }
    throw device_refusal(ledger, request.bytes, reason);
  }
}

// Where blocks that are older than the budget were evicted or freed, native has gaps that it cannot
// give back.
void* CudaGate::take_gap_of_native(Request& request, std::size_t bytes) {
  const std::int64_t rounded = rounded_by_native(bytes);
  if (request.large == nullptr || rounded > request.bytes) return nullptr;
  void* data = nullptr;
  try {
    data = native().raw_alloc_with_stream(bytes, request.stream);
  } catch (const c10::OutOfMemoryError&) {
    return nullptr;
  }
  ledger(request.device).release(request.bytes - rounded);
  request.bytes = rounded;
  request.large = nullptr;
  return data;
}

void CudaGate::note_block(void* data, const Request& request) {
  engine::Ledger& ledger = state(request.device).ledger;
  ledger.add_block(data, request.bytes, request.stream);
  // A graph's replays write to the addresses of its pool.
  if (goes_to_private_pool(request.device, request.stream)) {
    ledger.mark_shared_between_streams(data);
  }
}

void* CudaGate::take_block(Request request, std::size_t bytes) {
  if (is_short(request)) resync(request.device);
  const BusyMark busy(*this);
  engine::Overflow* overflow = admit(request);
  void* data = overflow == nullptr ? take_or_evict(request, bytes, overflow) : nullptr;
  if (overflow != nullptr) {
    return ledger(request.device).allocate_overflow(*overflow, request.bytes, request.stream);
  }
  note_block(data, request);
  return data;
}

c10::DataPtr CudaGate::allocate(std::size_t bytes) {
  const DeviceIndex device = c10::cuda::current_device();
  // Where the user has switched caching off for now, blocks are native's alone.
  if (bytes == 0 || !state(device).is_active || !native().isEnabled()) {
    return native().allocate(bytes);
  }
  void* data =
      take_block(make_request(device, bytes, c10::cuda::getCurrentCUDAStream(device)), bytes);
  return {data, data, &gate_free, c10::Device(c10::kCUDA, device)};
}

void* CudaGate::raw_alloc(std::size_t bytes) {
  return raw_alloc_with_stream(bytes, c10::cuda::getCurrentCUDAStream());
}

void* CudaGate::raw_alloc_with_stream(std::size_t bytes, cudaStream_t stream) {
  const DeviceIndex device = c10::cuda::current_device();
  if (bytes == 0 || !state(device).is_active) return native().raw_alloc_with_stream(bytes, stream);
  return take_block(make_request(device, bytes, stream), bytes);
}

bool CudaGate::start_large_blocks(DeviceIndex device, std::int64_t budget_bytes,
                                  cudaStream_t stream) {
  if (!DevicePages::work_on(device)) return false;
  DeviceState& here = state(device);
  if (here.large_blocks() == nullptr) make_large_blocks(device);
  LargeBlocks* large =
      here.large[static_cast<std::size_t>(LargeBlocks::page_size_for(budget_bytes))].get();
  LargeBlocks::Others others;
  for (const auto& other : here.large) {
    if (other.get() != large) others.push_back(other.get());
  }
  // Pages of a size for a larger budget would be too few for this one. What lies in them leaves as
  // it is evicted or freed.
  LargeBlocks* before = here.large_blocks();
  if (before != nullptr && before != large) before->stop();
  large->start(budget_bytes, stream, std::move(others));
  here.used_large.store(large, std::memory_order_release);
  return true;
}

void CudaGate::make_large_blocks(DeviceIndex device) {
  cudaDeviceProp properties{};
  LT_CUDA(cudaGetDeviceProperties(&properties, device));
  int size = 0;
  for (std::unique_ptr<LargeBlocks>& large : state(device).large) {
    large = std::make_unique<LargeBlocks>(
        native(), device, static_cast<std::int64_t>(properties.totalGlobalMem), size++);
  }
}

bool CudaGate::trim_other_pages(const Request& request) {
  bool any = false;
  for (const auto& large : state(request.device).all_large_blocks()) {
    if (large.get() != request.large && large->trim()) any = true;
  }
  return any;
}

void CudaGate::stop_large_blocks(DeviceIndex device) {
  if (LargeBlocks* large = state(device).large_blocks()) large->stop();
}

std::int64_t CudaGate::stitches(DeviceIndex device) {
  std::int64_t stitches = 0;
  for (const auto& large : state(device).all_large_blocks()) stitches += large->stitches();
  return stitches;
}

void CudaGate::end_step(DeviceIndex device) {
  LargeBlocks* large = state(device).large_blocks();
  if (large == nullptr) return;
  large->begin_step();
  if (!large->is_laid_out() || !may_evict(device, c10::cuda::getCurrentCUDAStream(device))) return;
  for (int round = 0; round < kMostRounds; ++round) {
    if (!ledger(device).move_together(*large->homecomings())) break;
  }
}

void CudaGate::emptyCache(MempoolId pool) {
  native().emptyCache(pool);
  for (DeviceState& device : states_) {
    if (pool != MempoolId{0, 0}) break;
    for (const auto& large : device.all_large_blocks()) large->trim();
  }
}

caching::DeviceStats CudaGate::getDeviceStats(DeviceIndex device) {
  caching::DeviceStats stats = native().getDeviceStats(device);
  for (const auto& large : state(device).all_large_blocks()) add_pages(stats, *large);
  const LargeBlocks* large = state(device).large_blocks();
  if (large == nullptr) return stats;
  // The two need not have had their peaks at the same time; what they were together is known from
  // the ledger and from how the budget was divided.
  const auto bound = [](c10::CachingAllocator::Stat& stat, std::int64_t known) {
    stat.peak = std::min(stat.peak, std::max(stat.current, known));
  };
  bound(stats.allocated_bytes[0], ledger(device).peak_bytes());
  if (large->is_on()) bound(stats.reserved_bytes[0], large->shared_peak_bytes());
  return stats;
}

void CudaGate::resetPeakStats(DeviceIndex device) {
  native().resetPeakStats(device);
  for (const auto& large : state(device).all_large_blocks()) large->reset_peaks();
}

void* CudaGate::getBaseAllocation(void* data, std::size_t* bytes) {
  for (DeviceState& device : states_) {
    const auto block = device.ledger.find_block(data);
    if (!block || !device.has_in_pages(data)) continue;
    if (bytes != nullptr) *bytes = static_cast<std::size_t>(block->bytes);
    return data;
  }
  return native().getBaseAllocation(data, bytes);
}

// Other devices cannot reach our pages by themselves.
cudaError_t CudaGate::memcpyAsync(void* to, int to_device, const void* from, int from_device,
                                  std::size_t bytes, cudaStream_t stream, bool p2p_enabled) {
  const bool has_pages = std::any_of(states_.begin(), states_.end(), [](const DeviceState& device) {
    return device.large_blocks() != nullptr;
  });
  if (to_device != from_device && has_pages) {
    return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream);
  }
  return native().memcpyAsync(to, to_device, from, from_device, bytes, stream, p2p_enabled);
}

bool CudaGate::DeviceState::has_in_pages(void* data) const {
  const auto all = all_large_blocks();
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& blocks) { return blocks->owns(data); });
}

void CudaGate::gate_free(void* data) {
  CudaGate& gate = instance();
  gate.free_block(data, gate.native_deleter_);
}

void CudaGate::raw_delete(void* data) {
  free_block(data, [](void* block) { instance().native().raw_delete(block); });
}

void CudaGate::free_block(void* data, void (*free_native)(void*)) {
  if (data == nullptr) return;
  if (poisons_.load(std::memory_order_relaxed)) poison(data);
  const BusyMark busy(*this);
  // A block that no ledger has was handed out by native alone.
  for (DeviceState& device : states_) {
    const auto block = device.ledger.remove_block(data);
    if (!block) continue;
    if (block->overflow != nullptr) {
      block->overflow->free_overflow(data, *block);
      return;
    }
    if (block->bytes <= LargeBlocks::kLargestSmallBytes) break;
    for (const auto& large : device.all_large_blocks()) {
      if (large->free(data)) return;
    }
    break;
  }
  free_native(data);
}

void CudaGate::poison(void* data) {
  for (std::size_t index = 0; index < states_.size(); ++index) {
    const auto block = states_[index].ledger.find_block(data);
    if (!block) continue;
    // Another stream may still read it, which native waits for and a fill would not.
    if (block->shared_between_streams) return;
    const c10::cuda::CUDAGuard guard(static_cast<DeviceIndex>(index));
    auto* const stream = static_cast<cudaStream_t>(block->stream);
    if (is_capturing(stream)) return;
    LT_CUDA(cudaMemsetAsync(data, 0xFF, static_cast<std::size_t>(block->bytes), stream));
    return;
  }
}

void CudaGate::mark_as_staying(void* data) {
  for (DeviceState& device : states_) device.ledger.mark_shared_between_streams(data);
}

void CudaGate::recordStream(const c10::DataPtr& data, c10::cuda::CUDAStream stream) {
  if (data.get_deleter() != &gate_free) {
    native().recordStream(data, stream);
    return;
  }
  engine::Ledger& blocks = ledger(data.device().index());
  const auto block = blocks.find_block(data.get());
  const auto all = state(data.device().index()).all_large_blocks();
  const bool is_paged = std::any_of(all.begin(), all.end(), [&](const auto& large) {
    return large->record_stream(data.get(), stream.stream());
  });
  if (!is_paged && (!block || block->overflow == nullptr)) {
    // Native takes only what carries its own deleter. Without a context nothing is ever freed by
    // it.
    const c10::DataPtr as_native(data.get(), nullptr, native_deleter_, data.device());
    native().recordStream(as_native, stream);
  }
  // Native ignores uses on the stream of the allocation, and so do we.
  if (block && block->stream != stream.stream()) blocks.mark_shared_between_streams(data.get());
}

caching::ShareableHandle CudaGate::shareIpcHandle(void* data) {
  for (DeviceState& device : states_) {
    LT_REQUIRE(!device.has_in_pages(data),
               "a tensor of more than 1 MiB that was made under a budget cannot be shared with "
               "another process: copy it before the session begins, or set "
               "SessionOptions::own_pages to false");
  }
  mark_as_staying(data);
  return native().shareIpcHandle(data);
}

void CudaGate::beginAllocateToPool(DeviceIndex device, MempoolId pool,
                                   std::function<bool(cudaStream_t)> filter) {
  native().beginAllocateToPool(device, pool, filter);
  const std::lock_guard lock(pools_mutex_);
  open_pools_.push_back({device, pool, std::move(filter)});
  open_pool_count_.store(open_pools_.size(), std::memory_order_release);
}

void CudaGate::endAllocateToPool(DeviceIndex device, MempoolId pool) {
  native().endAllocateToPool(device, pool);
  const std::lock_guard lock(pools_mutex_);
  const auto found =
      std::find_if(open_pools_.begin(), open_pools_.end(),
                   [&](const OpenPool& open) { return open.device == device && open.id == pool; });
  if (found != open_pools_.end()) open_pools_.erase(found);
  open_pool_count_.store(open_pools_.size(), std::memory_order_release);
}

// Native frees and makes blocks of the pool by itself here. The new ones get our deleter, which
// torch expects on them, and count with the next resync().
caching::CheckpointDelta CudaGate::setCheckpointPoolState(
    DeviceIndex device, std::shared_ptr<caching::AllocatorState> pool_state) {
  const BusyMark busy(*this);
  caching::CheckpointDelta delta = native().setCheckpointPoolState(device, std::move(pool_state));
  for (void* freed : delta.ptrs_freed) state(device).ledger.remove_block(freed);
  for (c10::DataPtr& made : delta.dataptrs_allocd) {
    static_cast<void>(made.compare_exchange_deleter(native_deleter_, &gate_free));
  }
  return delta;
}

}  // namespace lowtide::cuda
