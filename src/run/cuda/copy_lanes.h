// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include <cuda_runtime_api.h>

#include "run/cuda/event_pool.h"
#include "run/cuda/stopwatch.h"
#include "run/cuda/tick_log.h"

namespace lowtide::cuda {

// Copies between one device and pinned host memory, one stream for each direction, ordered by
// events against the streams that compute and against each other. The host never waits. Any thread
// may call it, with this device as the current one.
class CopyLanes {
 public:
  // For the current device.
  CopyLanes();
  // Waits for the copies under way.
  ~CopyLanes();
  CopyLanes(const CopyLanes&) = delete;
  CopyLanes& operator=(const CopyLanes&) = delete;

  // The op with this number was issued to `stream`.
  void tick(std::uint64_t op, cudaStream_t stream) { ticks_.note(op, stream); }

  // `stream` is the one that the block was allocated on; what it is given next there is written
  // after the copy.
  void copy_out(void* host, const void* block, std::int64_t bytes, cudaStream_t stream,
                std::uint64_t last_use);
  // What is issued to `stream` later sees the bytes.
  void copy_in(void* block, const void* host, std::int64_t bytes, cudaStream_t stream);
  // The host memory may be taken for other bytes.
  void forget_host(const void* host);
  // Work on `stream` has written this host memory in place: as if it had been copied out now.
  void adopt_host(const void* host, cudaStream_t stream);
  // Work on `stream` may still use host memory that will be taken for other bytes.
  void write_after(cudaStream_t stream);

  // Until all copies issued so far are done.
  void wait_on_host() noexcept;

  double copy_out_seconds(std::int64_t bytes) const { return out_rate_.seconds(bytes); }
  double copy_in_seconds(std::int64_t bytes) const { return in_rate_.seconds(bytes); }

 private:
  struct HostCopy {
    Event written;
    bool was_read = false;
  };

  EventPool events_;
  TickLog ticks_;
  Stopwatch stopwatch_;
  cudaStream_t out_ = nullptr;
  cudaStream_t in_ = nullptr;

  std::mutex mutex_;
  // The members below are guarded by mutex_, which is held while work is issued.
  CopyRate out_rate_;
  CopyRate in_rate_;
  std::unordered_map<const void*, HostCopy> host_copies_;
  // After the last copy that was issued to in_.
  Event last_read_;
  // Host memory that in_ may still be reading was given back: before out_ writes any, it waits for
  // last_read_.
  bool must_wait_for_reads_ = false;
};

}  // namespace lowtide::cuda
