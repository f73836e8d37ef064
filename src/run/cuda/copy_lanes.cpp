// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/cuda/copy_lanes.h"

#include <utility>

#include "run/cuda/check.h"

namespace lowtide::cuda {

namespace {

// A PCIe 5 link with 16 lanes, until a copy was measured.
constexpr double kLinkBytesPerSecond = 50e9;

cudaStream_t make_stream() {
  cudaStream_t stream = nullptr;
  LT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

}  // namespace

CopyLanes::CopyLanes()
    : events_(EventPool::Kind::kOrder),
      ticks_(events_),
      out_(make_stream()),
      in_(make_stream()),
      out_rate_(stopwatch_, kLinkBytesPerSecond),
      in_rate_(stopwatch_, kLinkBytesPerSecond),
      last_read_(events_.take()) {}

// Failures are nobody's concern any more: at the process's end the driver may be gone.
CopyLanes::~CopyLanes() {
  wait_on_host();
  static_cast<void>(cudaStreamDestroy(out_));
  static_cast<void>(cudaStreamDestroy(in_));
}

void CopyLanes::copy_out(void* host, const void* block, std::int64_t bytes, cudaStream_t stream,
                         std::uint64_t last_use) {
  const std::lock_guard lock(mutex_);
  ticks_.wait_for(last_use, stream, out_);
  if (must_wait_for_reads_) LT_CUDA(cudaStreamWaitEvent(out_, last_read_.get(), 0));
  must_wait_for_reads_ = false;
  Event written = events_.take();
  out_rate_.before_copy(bytes, out_);
  LT_CUDA(
      cudaMemcpyAsync(host, block, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, out_));
  out_rate_.after_copy(out_);
  LT_CUDA(cudaEventRecord(written.get(), out_));
  LT_CUDA(cudaStreamWaitEvent(stream, written.get(), 0));
  host_copies_.insert_or_assign(host, HostCopy{std::move(written)});
}

void CopyLanes::copy_in(void* block, const void* host, std::int64_t bytes, cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  // Whatever the stream did with the block's memory before comes first.
  const Event position = events_.take();
  LT_CUDA(cudaEventRecord(position.get(), stream));
  LT_CUDA(cudaStreamWaitEvent(in_, position.get(), 0));
  const auto copy = host_copies_.find(host);
  if (copy != host_copies_.end()) {
    LT_CUDA(cudaStreamWaitEvent(in_, copy->second.written.get(), 0));
    copy->second.was_read = true;
  }
  in_rate_.before_copy(bytes, in_);
  LT_CUDA(
      cudaMemcpyAsync(block, host, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, in_));
  in_rate_.after_copy(in_);
  LT_CUDA(cudaEventRecord(last_read_.get(), in_));
  LT_CUDA(cudaStreamWaitEvent(stream, last_read_.get(), 0));
}

void CopyLanes::forget_host(const void* host) {
  const std::lock_guard lock(mutex_);
  const auto copy = host_copies_.find(host);
  if (copy == host_copies_.end()) return;
  must_wait_for_reads_ = must_wait_for_reads_ || copy->second.was_read;
  host_copies_.erase(copy);
}

void CopyLanes::adopt_host(const void* host, cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  Event written = events_.take();
  LT_CUDA(cudaEventRecord(written.get(), stream));
  host_copies_.insert_or_assign(host, HostCopy{std::move(written)});
}

void CopyLanes::write_after(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  const Event position = events_.take();
  LT_CUDA(cudaEventRecord(position.get(), stream));
  LT_CUDA(cudaStreamWaitEvent(out_, position.get(), 0));
}

// A device that fails here copies no more either.
void CopyLanes::wait_on_host() noexcept {
  static_cast<void>(cudaStreamSynchronize(out_));
  static_cast<void>(cudaStreamSynchronize(in_));
}

}  // namespace lowtide::cuda
