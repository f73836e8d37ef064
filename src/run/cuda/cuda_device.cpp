// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/cuda/cuda_device.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include <c10/core/AllocatorConfig.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "base/check.h"
#include "run/cuda/check.h"
#include "run/cuda/copy_lanes.h"
#include "run/cuda/cuda_gate.h"
#include "run/cuda/native_limit.h"
#include "run/cuda/pacer.h"
#include "run/tier/host_arena.h"

namespace lowtide::cuda {

namespace {

constexpr double kKernelLaunchSeconds = 5e-6;
// What a kernel reaches of the memory's nominal rate.
constexpr double kMemoryEfficiency = 0.6;
// By how many percent of the budget the margin grows after one step at most.
constexpr std::int64_t kMostFlushesCounted = 4;
// Where the driver does not tell the rate.
constexpr double kMemoryBytesPerSecond = 2.5e12;

double memory_bytes_per_second(int device) {
  int clock_kilohertz = 0;
  int bus_bits = 0;
  LT_CUDA(cudaDeviceGetAttribute(&clock_kilohertz, cudaDevAttrMemoryClockRate, device));
  LT_CUDA(cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, device));
  if (clock_kilohertz <= 0 || bus_bits <= 0) return kMemoryBytesPerSecond;
  // Two transfers a cycle.
  return kMemoryEfficiency * 2.0 * 1e3 * clock_kilohertz * bus_bits / 8;
}

cudaDeviceProp properties_of(int device) {
  cudaDeviceProp properties{};
  LT_CUDA(cudaGetDeviceProperties(&properties, device));
  return properties;
}

// Null: there is no more.
void* allocate_pinned(std::int64_t bytes) {
  void* memory = nullptr;
  const auto size = static_cast<std::size_t>(bytes);
  if (cudaHostAlloc(&memory, size, cudaHostAllocPortable) == cudaSuccess) return memory;
  static_cast<void>(cudaGetLastError());
  return nullptr;
}

// Setting one option of torch's allocator resets most others, so those of `others` are said again.
void set_expandable_segments(const std::string& others, const char* value) {
  const std::string settings = others.empty() ? "" : others + ",";
  c10::CachingAllocator::setAllocatorSettings(settings + "expandable_segments:" + value);
}

// Switches torch's allocator to segments that grow, unless the user has decided that. Returns the
// settings of before, if they were changed.
std::optional<std::string> use_expandable_segments() {
  const std::string before = c10::CachingAllocator::getAllocatorSettings();
  if (before.find("expandable_segments") != std::string::npos) return std::nullopt;
  set_expandable_segments(before, "True");
  return before;
}

void restore_settings(const std::string& before) {
  // This option alone is not reset.
  set_expandable_segments(before, "False");
  c10::CachingAllocator::setAllocatorSettings(before);
}

class CudaDevice final : public engine::Device, public engine::Overflow {
 public:
  // Requires: the device is the current one.
  CudaDevice(int index, const CudaDeviceOptions& options);
  ~CudaDevice() override;

  std::string name() const override;
  engine::Ledger& ledger() override { return gate_.ledger(index_); }
  void* current_stream() const override { return stream(); }

  void install() override;
  void remove() override;
  void limit(std::optional<std::int64_t> budget_bytes) override;
  bool reserves() const override { return !uses_pages_; }
  std::int64_t reserved_peak_bytes() const override;
  void reset_reserved_peak() override { gate_.resetPeakStats(index_); }
  std::int64_t stitches() const override { return gate_.stitches(index_); }
  void end_step() override;

  bool is_native_deleter(void (*deleter)(void*)) const override {
    return deleter == gate_.native_deleter();
  }
  bool is_gate_deleter(void (*deleter)(void*)) const override {
    return deleter == &CudaGate::gate_free;
  }
  void (*gate_deleter() const)(void*) override { return &CudaGate::gate_free; }
  std::int64_t rounded(std::int64_t bytes) const override {
    return bytes == 0 ? 0 : gate_.rounded(index_, static_cast<std::size_t>(bytes));
  }
  bool counts_earlier_blocks() const override { return true; }

  Overflow& overflow() override { return *this; }
  void* allocate_overflow(std::int64_t bytes) override;
  void free_overflow(void* data, const engine::Block& block) noexcept override;
  void keep_as_host_copy(void* data) override;

  void* allocate_host(std::int64_t bytes) override { return arena_.allocate(bytes); }
  void free_host(void* host) override;
  void reserve_host(std::int64_t bytes) override { arena_.reserve(bytes); }
  void set_host_cap(std::int64_t bytes) override { arena_.set_cap(bytes); }
  std::int64_t host_held_bytes() const override { return arena_.held_bytes(); }
  std::int64_t host_peak_bytes() const override { return arena_.peak_bytes(); }
  bool is_host_written(const void* host) override;
  void wait_for_host(const void* host) override;
  void wait_for_freed_host() override;

  void start_copy_out(void* host, const void* block, std::int64_t bytes,
                      std::uint64_t last_use) override;
  void start_copy_in(void* block, void* host, std::int64_t bytes) override;
  void finish_copy(const void* block, void* stream) override;
  void copy_within(void* to, const void* from, std::int64_t bytes) override;
  void tick(std::uint64_t op) override;

  void pace() override;
  void stop_pacing() override { pacer_.release(); }
  bool is_paced() override { return pacer_.holds_device(); }
  int start_timing() override;
  void stop_timing(int timing) override;
  std::optional<double> read_timing(int timing) override { return stopwatch_.read(timing); }

  double copy_out_seconds(std::int64_t bytes) const override {
    return lanes_.copy_out_seconds(bytes);
  }
  double copy_in_seconds(std::int64_t bytes) const override {
    return lanes_.copy_in_seconds(bytes);
  }
  double memory_seconds(std::int64_t bytes) const override {
    return kKernelLaunchSeconds + static_cast<double>(bytes) / memory_bytes_per_second_;
  }

 private:
  cudaStream_t stream() const { return c10::cuda::getCurrentCUDAStream(index_); }
  void lift_limit();
  void* allocate_chunk(std::int64_t bytes);
  void free_chunk(void* chunk) noexcept;

  const c10::DeviceIndex index_;
  const CudaDeviceOptions options_;
  const cudaDeviceProp properties_;
  const double memory_bytes_per_second_;
  CudaGate& gate_;
  CopyLanes lanes_;
  Stopwatch stopwatch_;
  Pacer pacer_;
  // Chunks of the arena, and the memory that they are in.
  std::map<void*, void*> pinned_;
  // After lanes_, since copies must have ended before memory goes.
  tier::HostArena arena_;
  // How often native has emptied its cache.
  std::int64_t flushes_ = 0;
  // Where the budget is kept by native alone.
  NativeLimit native_limit_;
  bool uses_pages_ = false;
  // What native had before limit().
  std::optional<std::string> old_settings_;
};

CudaDevice::CudaDevice(int index, const CudaDeviceOptions& options)
    : index_(static_cast<c10::DeviceIndex>(index)),
      options_(options),
      properties_(properties_of(index)),
      memory_bytes_per_second_(memory_bytes_per_second(index)),
      gate_(CudaGate::instance()),
      arena_([this](std::int64_t bytes) { return allocate_chunk(bytes); },
             [this](void* chunk, std::int64_t) { free_chunk(chunk); }),
      native_limit_(gate_.native_allocator(), index_,
                    static_cast<std::int64_t>(properties_.totalGlobalMem)) {}

CudaDevice::~CudaDevice() {
  try {
    lift_limit();
    remove();
  } catch (const std::exception&) {
    // Nothing may leave a destructor, and the gate passes everything on without us.
  }
}

std::string CudaDevice::name() const {
  return base::concat(properties_.name, " (cuda:", static_cast<int>(index_), ")");
}

void CudaDevice::install() {
  gate_.set_poison(options_.poison);
  gate_.activate(index_);
}

void CudaDevice::remove() {
  gate_.deactivate(index_);
  gate_.set_poison(false);
}

void CudaDevice::limit(std::optional<std::int64_t> budget_bytes) {
  ledger().set_margin(0);
  if (!budget_bytes) {
    lift_limit();
    return;
  }
  caching::CUDAAllocator& native = gate_.native_allocator();
  if (!native.initialized()) native.init(c10::cuda::device_count());
  if (options_.expandable_segments && !old_settings_) old_settings_ = use_expandable_segments();
  // What is cached counts too, and segments that cannot grow would only lie about.
  native.emptyCache();
  uses_pages_ = options_.own_pages && gate_.start_large_blocks(index_, *budget_bytes, stream());
  if (!uses_pages_) native_limit_.set(*budget_bytes);
}

std::int64_t CudaDevice::reserved_peak_bytes() const {
  return gate_.getDeviceStats(index_).reserved_bytes[0].peak;
}

// What native cannot use of the budget, because it is in pieces, differs from model to model. To
// empty its cache it waits for the device, which costs more than to evict a little earlier.
void CudaDevice::end_step() {
  if (uses_pages_) {
    gate_.end_step(index_);
    return;
  }
  const std::int64_t flushes = gate_.native_allocator().getDeviceStats(index_).num_alloc_retries;
  const std::int64_t more = std::min<std::int64_t>(flushes - flushes_, kMostFlushesCounted);
  flushes_ = flushes;
  const std::int64_t budget = ledger().budget_bytes();
  if (more <= 0 || budget == engine::Ledger::kNoBudget || !native_limit_.is_set()) return;
  ledger().set_margin(std::min(ledger().margin_bytes() + more * budget / 100, budget / 10));
}

void CudaDevice::lift_limit() {
  if (uses_pages_) gate_.stop_large_blocks(index_);
  uses_pages_ = false;
  native_limit_.lift();
  if (old_settings_) restore_settings(*old_settings_);
  old_settings_.reset();
}

// Small pieces of pinned memory begin anywhere, but chunks at a granule. The arena calls both
// functions under its lock.
void* CudaDevice::allocate_chunk(std::int64_t bytes) {
  constexpr std::int64_t kGranule = tier::HostArena::kGranularityBytes;
  void* memory = allocate_pinned(bytes + kGranule);
  if (memory == nullptr) return nullptr;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  void* chunk = reinterpret_cast<void*>((begin + kGranule - 1) / kGranule * kGranule);
  pinned_.emplace(chunk, memory);
  return chunk;
}

// Also called when the arena goes, where nobody could be told of a failure.
void CudaDevice::free_chunk(void* chunk) noexcept {
  lanes_.wait_on_host();
  const auto memory = pinned_.find(chunk);
  static_cast<void>(cudaFreeHost(memory->second));
  pinned_.erase(memory);
}

void CudaDevice::free_host(void* host) {
  const c10::cuda::CUDAGuard guard(index_);
  lanes_.forget_host(host);
  arena_.free(host);
}

bool CudaDevice::is_host_written(const void* host) {
  const c10::cuda::CUDAGuard guard(index_);
  return lanes_.is_written(host);
}

void CudaDevice::wait_for_host(const void* host) {
  const c10::cuda::CUDAGuard guard(index_);
  lanes_.wait_until_written(host);
}

void CudaDevice::wait_for_freed_host() {
  const c10::cuda::CUDAGuard guard(index_);
  lanes_.wait_for_forgotten();
}

void* CudaDevice::allocate_overflow(std::int64_t bytes) {
  void* data = arena_.allocate(bytes);
  const c10::cuda::CUDAGuard guard(index_);
  if (data != nullptr) lanes_.use_after_writes(stream());
  return data;
}

// Only copies out write to the arena from another stream; blocks of the overflow are used in the
// order of theirs.
void CudaDevice::free_overflow(void* data, const engine::Block& block) noexcept {
  try {
    const c10::cuda::CUDAGuard guard(index_);
    // Which streams else use it is not known. This is as rare as it is slow.
    if (block.shared_between_streams) LT_CUDA(cudaDeviceSynchronize());
    lanes_.write_after(static_cast<cudaStream_t>(block.stream));
  } catch (const std::exception&) {
    // A device that fails here will not write the block either.
  }
  arena_.free(data);
}

void CudaDevice::keep_as_host_copy(void* data) {
  const c10::cuda::CUDAGuard guard(index_);
  lanes_.adopt_host(data, stream());
  ledger().remove_block(data);
}

void CudaDevice::start_copy_out(void* host, const void* block, std::int64_t bytes,
                                std::uint64_t last_use) {
  const c10::cuda::CUDAGuard guard(index_);
  const auto known = ledger().find_block(const_cast<void*>(block));
  cudaStream_t owner = known ? static_cast<cudaStream_t>(known->stream) : stream();
  lanes_.start_copy_out(host, block, bytes, owner, last_use);
}

void CudaDevice::start_copy_in(void* block, void* host, std::int64_t bytes) {
  const c10::cuda::CUDAGuard guard(index_);
  lanes_.start_copy_in(block, host, bytes, stream());
}

void CudaDevice::finish_copy(const void* block, void* stream) {
  const c10::cuda::CUDAGuard guard(index_);
  lanes_.finish_copy(block, static_cast<cudaStream_t>(stream));
}

void CudaDevice::copy_within(void* to, const void* from, std::int64_t bytes) {
  const c10::cuda::CUDAGuard guard(index_);
  const auto size = static_cast<std::size_t>(bytes);
  LT_CUDA(cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToDevice, stream()));
}

void CudaDevice::tick(std::uint64_t op) {
  if (!TickLog::is_noted(op)) return;
  const c10::cuda::CUDAGuard guard(index_);
  lanes_.tick(op, stream());
}

void CudaDevice::pace() {
  const c10::cuda::CUDAGuard guard(index_);
  pacer_.pace(stream());
}

int CudaDevice::start_timing() {
  const c10::cuda::CUDAGuard guard(index_);
  return stopwatch_.start(stream());
}

void CudaDevice::stop_timing(int timing) {
  const c10::cuda::CUDAGuard guard(index_);
  stopwatch_.stop(timing, stream());
}

}  // namespace

int cuda_device_count() { return static_cast<int>(c10::cuda::device_count()); }

std::unique_ptr<engine::Device> make_cuda_device(int index, const CudaDeviceOptions& options) {
  if (index < 0 || index >= cuda_device_count()) {
    throw DeviceError(
        base::concat("there is no GPU with index ", index, "; GPUs: ", cuda_device_count()));
  }
  const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(index));
  return std::make_unique<CudaDevice>(index, options);
}

}  // namespace lowtide::cuda
