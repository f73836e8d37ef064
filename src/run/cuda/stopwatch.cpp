// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/cuda/stopwatch.h"

#include <utility>

#include "base/check.h"
#include "run/cuda/check.h"

namespace lowtide::cuda {

namespace {

// Of a copy's issue to its start.
constexpr double kCopyLatencySeconds = 10e-6;
constexpr std::int64_t kMeasuredCopyBytes = std::int64_t{4} << 20;
// What a new measurement weighs in the average.
constexpr double kNewWeight = 0.25;

}  // namespace

int Stopwatch::start(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  Timing timing = {events_.take(), events_.take()};
  LT_CUDA(cudaEventRecord(timing.begin.get(), stream));
  if (free_.empty()) {
    timings_.push_back(std::move(timing));
    return static_cast<int>(timings_.size()) - 1;
  }
  const int number = free_.back();
  free_.pop_back();
  timings_[static_cast<std::size_t>(number)] = std::move(timing);
  return number;
}

void Stopwatch::stop(int timing, cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  Timing& stopped = timings_.at(static_cast<std::size_t>(timing));
  LT_CHECK(stopped.begin != nullptr && !stopped.is_stopped, "timing is not running: ", timing);
  LT_CUDA(cudaEventRecord(stopped.end.get(), stream));
  stopped.is_stopped = true;
}

std::optional<double> Stopwatch::read(int timing) {
  const std::lock_guard lock(mutex_);
  Timing& read = timings_.at(static_cast<std::size_t>(timing));
  if (!read.is_stopped) return std::nullopt;
  const cudaError_t status = cudaEventQuery(read.end.get());
  if (status == cudaErrorNotReady) return std::nullopt;
  throw_if_failed(status, "cudaEventQuery(end)");
  float milliseconds = 0;
  LT_CUDA(cudaEventElapsedTime(&milliseconds, read.begin.get(), read.end.get()));
  read = Timing{};
  free_.push_back(timing);
  return static_cast<double>(milliseconds) * 1e-3;
}

void CopyRate::before_copy(std::int64_t bytes, cudaStream_t stream) {
  read_pending();
  if (pending_ || bytes < kMeasuredCopyBytes) return;
  pending_ = Pending{stopwatch_.start(stream), bytes};
}

void CopyRate::after_copy(cudaStream_t stream) {
  if (!pending_ || pending_->is_stopped) return;
  stopwatch_.stop(pending_->timing, stream);
  pending_->is_stopped = true;
}

void CopyRate::read_pending() {
  if (!pending_) return;
  const std::optional<double> seconds = stopwatch_.read(pending_->timing);
  if (!seconds) return;
  if (*seconds > 0) {
    const double measured = static_cast<double>(pending_->bytes) / *seconds;
    bytes_per_second_ = (1 - kNewWeight) * bytes_per_second_ + kNewWeight * measured;
  }
  pending_.reset();
}

double CopyRate::seconds(std::int64_t bytes) const {
  return kCopyLatencySeconds + static_cast<double>(bytes) / bytes_per_second_;
}

}  // namespace lowtide::cuda
