// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "run/engine/device.h"

namespace lowtide::run {

// What ops cost, by operator and shapes. Each kind is measured a few times, without waiting for the
// device, and taken from memory afterwards. Any thread.
class OpTimer {
 public:
  explicit OpTimer(engine::Device& device) : device_(device) {}

  // Begins to measure if it is still worth it; the result goes to stop().
  int start(std::uint64_t signature);
  // Seconds of such an op as far as is known by now; else as long as the device takes to read and
  // write so many bytes.
  double stop(int timing, std::uint64_t signature, std::int64_t bytes);

  // Seconds of such an op, if it was measured.
  std::optional<double> seconds(std::uint64_t signature) const;

 private:
  struct Cost {
    double seconds = 0;
    int samples = 0;
  };
  struct Pending {
    int timing;
    std::uint64_t signature;
  };
  void read_finished();

  engine::Device& device_;
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, Cost> costs_;
  // Oldest first, which is the order in which the device gets to them.
  std::deque<Pending> pending_;
};

}  // namespace lowtide::run
