// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/stalls.h"

#include <utility>

namespace lowtide::engine {

void Stalls::stop(int timing, std::int32_t action) {
  device_.stop_timing(timing);
  pending_.push_back({timing, action});
}

void Stalls::forget() {
  known_.clear();
  for (Pending& pending : pending_) pending.action = -1;
}

std::optional<std::vector<Stall>> Stalls::take() {
  while (!pending_.empty()) {
    const std::optional<double> seconds = device_.read_timing(pending_.front().timing);
    if (!seconds) return std::nullopt;
    const std::int32_t action = pending_.front().action;
    if (action >= 0) known_.push_back({.action = action, .seconds = *seconds});
    pending_.pop_front();
  }
  return std::exchange(known_, {});
}

}  // namespace lowtide::engine
