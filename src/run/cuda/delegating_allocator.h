// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <c10/cuda/CUDACachingAllocator.h>

#include "run/torch/torch_version.h"

namespace lowtide::cuda {

namespace caching = c10::cuda::CUDACachingAllocator;

// A CUDA allocator that passes every call on to another one, which must outlive it: a base for one
// that changes some of them. It overrides every virtual function of torch's interface, also those
// with a body, since several of these throw; tools/tests/test_delegating_allocator.py reads torch's
// headers and fails when one is missing. What newer versions of torch added comes last.
class DelegatingAllocator : public caching::CUDAAllocator {
 public:
  using DeviceIndex = c10::DeviceIndex;
  using MempoolId = c10::MempoolId_t;

  explicit DelegatingAllocator(CUDAAllocator* native) : native_(native) {}

  // Of c10::Allocator.
  c10::DataPtr allocate(std::size_t bytes) override { return native_->allocate(bytes); }
  bool is_simple_data_ptr(const c10::DataPtr& data) const override {
    return native_->is_simple_data_ptr(data);
  }
  c10::DeleterFnPtr raw_deleter() const override { return native_->raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    native_->copy_data(to, from, bytes);
  }

  // Of c10::DeviceAllocator.
  bool initialized() override { return native_->initialized(); }
  void emptyCache(MempoolId pool = {0, 0}) override { native_->emptyCache(pool); }
  void recordStream(const c10::DataPtr& data, c10::Stream stream) override {
    recordStream(data, c10::cuda::CUDAStream(stream));
  }
  caching::DeviceStats getDeviceStats(DeviceIndex device) override {
    return native_->getDeviceStats(device);
  }
  void resetAccumulatedStats(DeviceIndex device) override {
    native_->resetAccumulatedStats(device);
  }
  void resetPeakStats(DeviceIndex device) override { native_->resetPeakStats(device); }
  std::pair<std::size_t, std::size_t> getMemoryInfo(DeviceIndex device) override {
    return native_->getMemoryInfo(device);
  }

  // Of CUDAAllocator.
  void* raw_alloc(std::size_t bytes) override { return native_->raw_alloc(bytes); }
  void* raw_alloc_with_stream(std::size_t bytes, cudaStream_t stream) override {
    return native_->raw_alloc_with_stream(bytes, stream);
  }
  void raw_delete(void* data) override { native_->raw_delete(data); }
  void init(int device_count) override { native_->init(device_count); }
  double getMemoryFraction(DeviceIndex device) override {
    return native_->getMemoryFraction(device);
  }
  void setMemoryFraction(double fraction, DeviceIndex device) override {
    native_->setMemoryFraction(fraction, device);
  }
  std::vector<caching::StreamSegmentSize> getExpandableSegmentSizes(DeviceIndex device) override {
    return native_->getExpandableSegmentSizes(device);
  }
  void enable(bool value) override { native_->enable(value); }
  bool isEnabled() const override { return native_->isEnabled(); }
  void cacheInfo(DeviceIndex device, std::size_t* largest_block) override {
    native_->cacheInfo(device, largest_block);
  }
  void* getBaseAllocation(void* data, std::size_t* bytes) override {
    return native_->getBaseAllocation(data, bytes);
  }
  void recordStream(const c10::DataPtr& data, c10::cuda::CUDAStream stream) override {
    native_->recordStream(data, stream);
  }
  caching::SnapshotInfo snapshot(MempoolId pool = {0, 0}, bool include_traces = true) override {
    return native_->snapshot(pool, include_traces);
  }
  void beginAllocateToPool(DeviceIndex device, MempoolId pool,
                           std::function<bool(cudaStream_t)> filter) override {
    native_->beginAllocateToPool(device, pool, std::move(filter));
  }
  void endAllocateToPool(DeviceIndex device, MempoolId pool) override {
    native_->endAllocateToPool(device, pool);
  }
  void releasePool(DeviceIndex device, MempoolId pool) override {
    native_->releasePool(device, pool);
  }
  int getPoolUseCount(DeviceIndex device, MempoolId pool) override {
    return native_->getPoolUseCount(device, pool);
  }
  void createOrIncrefPool(DeviceIndex device, MempoolId pool,
                          std::shared_ptr<CUDAAllocator> allocator = nullptr) override {
    native_->createOrIncrefPool(device, pool, std::move(allocator));
  }
  void setUseOnOOM(DeviceIndex device, MempoolId pool, bool use_on_oom) override {
    native_->setUseOnOOM(device, pool, use_on_oom);
  }
  void setNoSplit(DeviceIndex device, MempoolId pool) override {
    native_->setNoSplit(device, pool);
  }
  bool checkPoolLiveAllocations(DeviceIndex device, MempoolId pool,
                                const std::unordered_set<void*>& expected) override {
    return native_->checkPoolLiveAllocations(device, pool, expected);
  }
  caching::ShareableHandle shareIpcHandle(void* data) override {
    return native_->shareIpcHandle(data);
  }
  std::shared_ptr<void> getIpcDevPtr(std::string handle) override {
    return native_->getIpcDevPtr(std::move(handle));
  }
  bool isHistoryEnabled() override { return native_->isHistoryEnabled(); }
  void recordHistory(bool enabled, caching::CreateContextFn context, std::size_t max_entries,
                     caching::RecordContext when, bool clear,
                     const std::vector<std::string>& skip_actions) override {
    native_->recordHistory(enabled, context, max_entries, when, clear, skip_actions);
  }
  void recordAnnotation(
      const std::vector<std::pair<std::string, std::string>>& annotation) override {
    native_->recordAnnotation(annotation);
  }
  void pushCompileContext(std::string& context) override { native_->pushCompileContext(context); }
  void popCompileContext() override { native_->popCompileContext(); }
  void setUserMetadata(const std::string& metadata) override { native_->setUserMetadata(metadata); }
  std::string getUserMetadata() override { return native_->getUserMetadata(); }
  void attachOutOfMemoryObserver(caching::OutOfMemoryObserver observer) override {
    native_->attachOutOfMemoryObserver(std::move(observer));
  }
  void attachAllocatorTraceTracker(caching::AllocatorTraceTracker tracker) override {
    native_->attachAllocatorTraceTracker(std::move(tracker));
  }
  void enablePeerAccess(DeviceIndex device, DeviceIndex peer) override {
    native_->enablePeerAccess(device, peer);
  }
  cudaError_t memcpyAsync(void* to, int to_device, const void* from, int from_device,
                          std::size_t bytes, cudaStream_t stream, bool p2p_enabled) override {
    return native_->memcpyAsync(to, to_device, from, from_device, bytes, stream, p2p_enabled);
  }
  std::shared_ptr<caching::AllocatorState> getCheckpointState(DeviceIndex device,
                                                              MempoolId pool) override {
    return native_->getCheckpointState(device, pool);
  }
  caching::CheckpointDelta setCheckpointPoolState(
      DeviceIndex device, std::shared_ptr<caching::AllocatorState> state) override {
    return native_->setCheckpointPoolState(device, std::move(state));
  }
  std::string name() override { return native_->name(); }

#if LT_TORCH_AT_LEAST(2, 12)
  std::shared_ptr<c10::GatheredContext> getContextForPointer(const void* data) override {
    return native_->getContextForPointer(data);
  }
  void attachOomRejectionObserver(caching::OomRejectionObserver observer) override {
    native_->attachOomRejectionObserver(std::move(observer));
  }
#endif
#if LT_TORCH_AT_LEAST(2, 13)
  void markCaptureBegin(DeviceIndex device) override { native_->markCaptureBegin(device); }
  void markCaptureEnd(DeviceIndex device) override { native_->markCaptureEnd(device); }
  // For replays of recorded allocations; such blocks are native's alone.
  c10::DataPtr allocateWithAddress(std::size_t bytes, void* address) override {
    return native_->allocateWithAddress(bytes, address);
  }
#endif
#if LT_TORCH_AT_LEAST(2, 14)
  bool supportsUserMetadata() override { return native_->supportsUserMetadata(); }
  void annotateMemory(const void* data, const std::string& metadata) override {
    native_->annotateMemory(data, metadata);
  }
#endif

 protected:
  CUDAAllocator& native() const { return *native_; }

 private:
  CUDAAllocator* const native_;
};

}  // namespace lowtide::cuda
