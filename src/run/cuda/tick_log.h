// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include <cuda_runtime_api.h>

#include "run/cuda/event_pool.h"

namespace lowtide::cuda {

// Events on the streams every few ops, so that a copy can wait for the op that used its block last
// and not for all that was issued since. Any thread may call it.
class TickLog {
 public:
  explicit TickLog(EventPool& events) : events_(events) {}

  // Only these ops get an event, so that nothing need be done for the others.
  static bool is_noted(std::uint64_t op) { return op % kOpsPerEvent == 0; }
  // The op with this number was issued to `stream`.
  void note(std::uint64_t op, cudaStream_t stream);
  // Makes `waiting` wait until `stream` is through with this op, and as little longer as is known.
  void wait_for(std::uint64_t op, cudaStream_t stream, cudaStream_t waiting);

 private:
  static constexpr std::uint64_t kOpsPerEvent = 8;
  static constexpr std::size_t kEntries = 128;
  struct Entry {
    std::uint64_t op = 0;
    cudaStream_t stream = nullptr;
    Event event;
  };
  const Entry* find(std::uint64_t op, cudaStream_t stream) const;

  EventPool& events_;
  std::mutex mutex_;
  // Guarded by mutex_. A ring: the oldest entry is at next_.
  std::array<Entry, kEntries> entries_;
  std::size_t next_ = 0;
};

}  // namespace lowtide::cuda
