// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include <cuda_runtime_api.h>

#include "run/cuda/event_pool.h"

namespace lowtide::cuda {

// Measures what streams take, without making the host wait. Any thread may call it.
class Stopwatch {
 public:
  Stopwatch() : events_(EventPool::Kind::kTiming) {}

  // A number for stop() and read().
  int start(cudaStream_t stream);
  void stop(int timing, cudaStream_t stream);
  // Seconds between the two, and the number is free again; nothing while the device has not come so
  // far, or when stop() was not called.
  std::optional<double> read(int timing);

 private:
  struct Timing {
    Event begin;
    Event end;
    bool is_stopped = false;
  };

  EventPool events_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<Timing> timings_;
  std::vector<int> free_;
};

// How fast copies in one direction are: a guess at first, then an average of what was measured. Its
// owner calls it under a lock, but for seconds(), which any thread may call.
class CopyRate {
 public:
  CopyRate(Stopwatch& stopwatch, double bytes_per_second)
      : stopwatch_(stopwatch), bytes_per_second_(bytes_per_second) {}

  // Around the issue of a copy. Measures one at a time, and only what is large enough to tell.
  void before_copy(std::int64_t bytes, cudaStream_t stream);
  void after_copy(cudaStream_t stream);

  double seconds(std::int64_t bytes) const;

 private:
  struct Pending {
    int timing;
    std::int64_t bytes;
    bool is_stopped = false;
  };
  void read_pending();

  Stopwatch& stopwatch_;
  std::optional<Pending> pending_;
  // A figure only: nothing is published through it.
  std::atomic<double> bytes_per_second_;
};

}  // namespace lowtide::cuda
