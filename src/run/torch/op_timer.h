// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "run/engine/device.h"
#include "run/torch/recent_times.h"

namespace lowtide::run {

// What ops cost, by operator and shapes. Each kind is measured a few times, without waiting for the
// device, and taken from memory afterwards. Any thread.
class OpTimer {
 public:
  explicit OpTimer(engine::Device& device) : device_(device) {}

  // What is under way for one op.
  struct Timing {
    // Of the device; -1: the op is not measured.
    int watch = -1;
    // Seconds of such an op as far as is known.
    double known_seconds = 0;
  };
  // What is known of a timing when it ends.
  struct Ending {
    // There is nothing of the host in it, whatever the device says.
    bool is_own = false;
    // Room was made meanwhile, which a host that computes by itself did instead of the op.
    bool made_room = false;
  };
  // Begins to measure if it is still worth it, or `thoroughly`; the result goes to stop().
  Timing start(std::uint64_t signature, bool thoroughly);
  // Seconds of such an op as far as is known by now; else as long as the device takes to read and
  // write so many bytes.
  double stop(const Timing& timing, std::uint64_t signature, std::int64_t bytes, Ending ending);
  // How long the host took to issue such an op.
  void note_host(std::uint64_t signature, double seconds);
  // How long the program took from the op before to this one.
  void note_before(std::uint64_t signature, double seconds);

  // Waits for what is still being measured.
  void finish();

  // Seconds of such an op, if it was measured: on the device without waits for the host, and on the
  // host. One that computes by itself takes all of it as the device, with what comes before the op.
  std::optional<double> own_seconds(std::uint64_t signature) const;
  std::optional<double> host_seconds(std::uint64_t signature) const;

 private:
  struct Cost {
    double seconds = 0;
    int samples = 0;
    // Where the host computes by itself: of the op, and of what comes before it.
    RecentTimes own;
    RecentTimes before;
    // The samples hold no waits for the host.
    bool is_own = false;
    // 0: not measured.
    double host_seconds = 0;
  };
  struct Pending {
    int timing;
    std::uint64_t signature;
    Ending ending;
  };
  void add_sample(Cost& cost, double seconds, const Ending& ending) const;
  // False: the device is not so far. Requires: the lock, and something pending.
  bool read_oldest();

  engine::Device& device_;
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, Cost> costs_;
  // Oldest first, which is the order in which the device gets to them.
  std::deque<Pending> pending_;
};

}  // namespace lowtide::run
