// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/cuda/event_pool.h"

#include "run/cuda/check.h"

namespace lowtide::cuda {

void ReturnEvent::operator()(cudaEvent_t event) const noexcept {
  const std::lock_guard lock(pool->mutex_);
  pool->idle_.push_back(event);
}

// At the process's end the driver may be gone, and there is nobody to tell.
EventPool::~EventPool() {
  for (cudaEvent_t event : idle_) static_cast<void>(cudaEventDestroy(event));
}

Event EventPool::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      Event event(idle_.back(), ReturnEvent{this});
      idle_.pop_back();
      return event;
    }
  }
  cudaEvent_t event = nullptr;
  const unsigned flags = kind_ == Kind::kTiming ? cudaEventDefault : cudaEventDisableTiming;
  LT_CUDA(cudaEventCreateWithFlags(&event, flags));
  return Event(event, ReturnEvent{this});
}

}  // namespace lowtide::cuda
