// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
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

  // `stream` is the one that the block was allocated on.
  void start_copy_out(void* host, const void* block, std::int64_t bytes, cudaStream_t stream,
                      std::uint64_t last_use);
  // `stream` is the one that the block was allocated on.
  void start_copy_in(void* block, const void* host, std::int64_t bytes, cudaStream_t stream);
  // What is issued to `stream` later comes after the copy from or to the block.
  void finish_copy(const void* block, cudaStream_t stream);
  // The host memory may be taken for other bytes.
  void forget_host(const void* host);
  // Work on `stream` has written this host memory in place: as if it had been copied out now.
  void adopt_host(const void* host, cudaStream_t stream);
  // Work on `stream` may still use host memory that will be taken for other bytes.
  void write_after(cudaStream_t stream);
  // Copies that nobody waits for may still write host memory that `stream` is about to use.
  void use_after_writes(cudaStream_t stream);

  // For a host that reads what was copied out: whether it is there, and waiting for it.
  bool is_written(const void* host);
  void wait_until_written(const void* host);
  // For a host that writes memory which was just taken: waits for what the device was still doing
  // with such memory when it was given back.
  void wait_for_forgotten();

  // Until all copies issued so far are done.
  void wait_on_host() noexcept;

  double copy_out_seconds(std::int64_t bytes) const { return out_rate_.seconds(bytes); }
  double copy_in_seconds(std::int64_t bytes) const { return in_rate_.seconds(bytes); }

 private:
  // Requires: the lock, and a copy of the block just issued to `lane`.
  void note_under_way(const void* block, cudaStream_t lane);
  // The device gets to `event` with memory that is given back now. Requires: the lock.
  void remember(Event event);

  struct HostCopy {
    Event written;
    // After the last copy from it; null: it was not read.
    Event read;
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
  // By block: after its copy, until finish_copy().
  std::unordered_map<const void*, Event> under_way_;
  // After the last copy that was issued to in_.
  Event last_read_;
  // Host memory that in_ may still be reading was given back: before out_ writes any, it waits for
  // last_read_.
  bool must_wait_for_reads_ = false;
  // What the device was still doing with host memory when that was given back, oldest first.
  std::deque<Event> forgotten_;
};

}  // namespace lowtide::cuda
