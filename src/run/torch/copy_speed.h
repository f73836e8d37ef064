// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <mutex>

#include "run/torch/recent_times.h"

namespace lowtide::run {

// Copies of a host that copies by itself, and how long further ones will take by what these took.
// Any thread.
class CopySpeed {
 public:
  void copy(void* to, const void* from, std::int64_t bytes);
  double seconds(std::int64_t bytes) const;

 private:
  mutable std::mutex mutex_;
  RecentTimes seconds_per_byte_;
};

}  // namespace lowtide::run
