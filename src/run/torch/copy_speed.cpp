// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/copy_speed.h"

#include <chrono>
#include <cstddef>
#include <cstring>

namespace lowtide::run {
namespace {

// Of one core, as long as nothing was copied.
constexpr double kUsualSecondsPerByte = 1 / 6e9;
constexpr double kStartSeconds = 1e-6;
// Smaller copies stay in the processor's caches, and tell little of others.
constexpr std::int64_t kLeastTellingBytes = std::int64_t{256} << 10;

}  // namespace

void CopySpeed::copy(void* to, const void* from, std::int64_t bytes) {
  const auto start = std::chrono::steady_clock::now();
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
  if (bytes < kLeastTellingBytes) return;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  const std::lock_guard lock(mutex_);
  seconds_per_byte_.add(taken.count() / static_cast<double>(bytes));
}

double CopySpeed::seconds(std::int64_t bytes) const {
  const std::lock_guard lock(mutex_);
  const double per_byte =
      seconds_per_byte_.empty() ? kUsualSecondsPerByte : seconds_per_byte_.typical();
  return kStartSeconds + static_cast<double>(bytes) * per_byte;
}

}  // namespace lowtide::run
