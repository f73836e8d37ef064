// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <cuda_runtime_api.h>

namespace lowtide::cuda {

class EventPool;

struct ReturnEvent {
  EventPool* pool = nullptr;
  void operator()(cudaEvent_t event) const noexcept;
};

// An event of a pool, which it goes back to. A stream that was told to wait for it does so even if
// the event is recorded anew in the meantime, so it may go back as soon as that was said.
using Event = std::unique_ptr<CUevent_st, ReturnEvent>;

// Events for reuse, since making one is slow. Any thread may call it; it outlives its events.
class EventPool {
 public:
  enum class Kind { kOrder, kTiming };

  explicit EventPool(Kind kind) : kind_(kind) {}
  ~EventPool();
  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;

  // For the current device.
  Event take();

 private:
  friend ReturnEvent;

  const Kind kind_;
  std::mutex mutex_;
  std::vector<cudaEvent_t> idle_;  // Guarded by mutex_.
};

}  // namespace lowtide::cuda
