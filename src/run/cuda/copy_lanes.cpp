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

// Whether the device got there.
bool has_passed(const Event& event) {
  const cudaError_t state = cudaEventQuery(event.get());
  if (state == cudaErrorNotReady) {
    // It would be taken for a failure of what is asked next.
    static_cast<void>(cudaGetLastError());
    return false;
  }
  LT_CUDA(state);
  return true;
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

void CopyLanes::start_copy_out(void* host, const void* block, std::int64_t bytes,
                               cudaStream_t stream, std::uint64_t last_use) {
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
  host_copies_.insert_or_assign(host, HostCopy{std::move(written), nullptr});
  note_under_way(block, out_);
}

void CopyLanes::start_copy_in(void* block, const void* host, std::int64_t bytes,
                              cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  // Whatever the stream did with the block's memory before comes first.
  const Event position = events_.take();
  LT_CUDA(cudaEventRecord(position.get(), stream));
  LT_CUDA(cudaStreamWaitEvent(in_, position.get(), 0));
  HostCopy& copy = host_copies_[host];
  // Without one it was written by the host, which is done.
  if (copy.written) LT_CUDA(cudaStreamWaitEvent(in_, copy.written.get(), 0));
  if (!copy.read) copy.read = events_.take();
  in_rate_.before_copy(bytes, in_);
  LT_CUDA(
      cudaMemcpyAsync(block, host, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, in_));
  in_rate_.after_copy(in_);
  LT_CUDA(cudaEventRecord(last_read_.get(), in_));
  LT_CUDA(cudaEventRecord(copy.read.get(), in_));
  note_under_way(block, in_);
}

void CopyLanes::note_under_way(const void* block, cudaStream_t lane) {
  Event done = events_.take();
  LT_CUDA(cudaEventRecord(done.get(), lane));
  under_way_.insert_or_assign(block, std::move(done));
}

void CopyLanes::finish_copy(const void* block, cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  const auto done = under_way_.find(block);
  if (done == under_way_.end()) return;
  LT_CUDA(cudaStreamWaitEvent(stream, done->second.get(), 0));
  under_way_.erase(done);
}

void CopyLanes::forget_host(const void* host) {
  const std::lock_guard lock(mutex_);
  const auto copy = host_copies_.find(host);
  if (copy == host_copies_.end()) return;
  must_wait_for_reads_ = must_wait_for_reads_ || copy->second.read != nullptr;
  if (copy->second.written) remember(std::move(copy->second.written));
  if (copy->second.read) remember(std::move(copy->second.read));
  host_copies_.erase(copy);
}

void CopyLanes::remember(Event event) {
  while (!forgotten_.empty() && has_passed(forgotten_.front())) forgotten_.pop_front();
  if (!has_passed(event)) forgotten_.push_back(std::move(event));
}

void CopyLanes::wait_for_forgotten() {
  const std::lock_guard lock(mutex_);
  for (const Event& event : forgotten_) LT_CUDA(cudaEventSynchronize(event.get()));
  forgotten_.clear();
}

bool CopyLanes::is_written(const void* host) {
  const std::lock_guard lock(mutex_);
  const auto copy = host_copies_.find(host);
  return copy == host_copies_.end() || !copy->second.written || has_passed(copy->second.written);
}

void CopyLanes::wait_until_written(const void* host) {
  const std::lock_guard lock(mutex_);
  const auto copy = host_copies_.find(host);
  if (copy == host_copies_.end() || !copy->second.written) return;
  LT_CUDA(cudaEventSynchronize(copy->second.written.get()));
}

void CopyLanes::adopt_host(const void* host, cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  Event written = events_.take();
  LT_CUDA(cudaEventRecord(written.get(), stream));
  host_copies_.insert_or_assign(host, HostCopy{std::move(written), nullptr});
}

void CopyLanes::write_after(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  Event position = events_.take();
  LT_CUDA(cudaEventRecord(position.get(), stream));
  LT_CUDA(cudaStreamWaitEvent(out_, position.get(), 0));
  remember(std::move(position));
}

void CopyLanes::use_after_writes(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  const Event position = events_.take();
  LT_CUDA(cudaEventRecord(position.get(), out_));
  LT_CUDA(cudaStreamWaitEvent(stream, position.get(), 0));
}

// A device that fails here copies no more either.
void CopyLanes::wait_on_host() noexcept {
  static_cast<void>(cudaStreamSynchronize(out_));
  static_cast<void>(cudaStreamSynchronize(in_));
}

}  // namespace lowtide::cuda
