// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/cuda/tick_log.h"

#include "run/cuda/check.h"
#include "run/cuda/graph_capture.h"

namespace lowtide::cuda {

void TickLog::note(std::uint64_t op, cudaStream_t stream) {
  if (!is_noted(op)) return;
  // Whoever waited for such an event would become part of the graph.
  if (is_capturing(stream)) return;
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[next_];
  if (entry.event == nullptr) entry.event = events_.take();
  LT_CUDA(cudaEventRecord(entry.event.get(), stream));
  entry.op = op;
  entry.stream = stream;
  next_ = (next_ + 1) % kEntries;
}

void TickLog::wait_for(std::uint64_t op, cudaStream_t stream, cudaStream_t waiting) {
  {
    // Held until the wait is said: an entry may be taken for another stream after that.
    const std::lock_guard lock(mutex_);
    if (const Entry* entry = find(op, stream)) {
      LT_CUDA(cudaStreamWaitEvent(waiting, entry->event.get(), 0));
      return;
    }
  }
  const Event now = events_.take();
  LT_CUDA(cudaEventRecord(now.get(), stream));
  LT_CUDA(cudaStreamWaitEvent(waiting, now.get(), 0));
}

const TickLog::Entry* TickLog::find(std::uint64_t op, cudaStream_t stream) const {
  const Entry* earliest = nullptr;
  for (const Entry& entry : entries_) {
    if (entry.event == nullptr || entry.stream != stream || entry.op < op) continue;
    if (earliest == nullptr || entry.op < earliest->op) earliest = &entry;
  }
  return earliest;
}

}  // namespace lowtide::cuda
