// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "run/engine/device.h"

namespace lowtide::engine {

// How long the device stood still for what a plan had fetched.
struct Stall {
  // Of the fetch, among the plan's actions.
  std::int32_t action = -1;
  double seconds = 0;
};

// Times the waits of one step for what its plan fetched. The host never waits for a time.
class Stalls {
 public:
  explicit Stalls(Device& device) : device_(device) {}

  // Around what makes the calling thread's stream wait.
  int start() { return device_.start_timing(); }
  void stop(int timing, std::int32_t action);

  // What was measured so far is of no use: it is of another step, which followed another plan.
  void forget();

  // All of them, once the device has come past the last; then there are none left.
  std::optional<std::vector<Stall>> take();

 private:
  struct Pending {
    int timing;
    // -1: forgotten, but the device still has to come past it.
    std::int32_t action;
  };

  Device& device_;
  // Oldest first, which is the order in which the device gets to them.
  std::deque<Pending> pending_;
  std::vector<Stall> known_;
};

}  // namespace lowtide::engine
