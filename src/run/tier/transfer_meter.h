// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

namespace lowtide::tier {

// How much was transferred in one direction, and how long something was under way in it. Any
// thread.
class TransferMeter {
 public:
  void begin() {
    const std::lock_guard lock(mutex_);
    if (under_way_++ == 0) since_ = Clock::now();
  }
  void end(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    bytes_ += bytes;
    if (--under_way_ == 0) busy_ += Clock::now() - since_;
  }
  std::int64_t bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }
  double seconds() const {
    const std::lock_guard lock(mutex_);
    return busy_.count();
  }
  // 0 before the first transfer.
  double bytes_per_second() const {
    const std::lock_guard lock(mutex_);
    return busy_.count() > 0 ? static_cast<double>(bytes_) / busy_.count() : 0;
  }

 private:
  using Clock = std::chrono::steady_clock;
  mutable std::mutex mutex_;
  // The members below are guarded by mutex_.
  std::int64_t bytes_ = 0;
  int under_way_ = 0;
  Clock::time_point since_;
  std::chrono::duration<double> busy_{0};
};

}  // namespace lowtide::tier
