// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// What a session costs the host for each op while there is nothing to evict.

namespace lowtide::bench {

struct OpCost {
  std::string name;
  std::string device;
  std::int64_t ops = 0;
  // By round, nanoseconds an op: without a session, and how much more with one that only watches
  // and with one whose budget everything fits in.
  std::vector<double> plain{};
  std::vector<double> watching{};
  std::vector<double> fits{};
};

// What may be asked of a session at most; a median above it is a broken promise.
inline constexpr double kMostNanoseconds = 2000;

std::vector<OpCost> measure_op_costs(const std::string& device, int rounds);

}  // namespace lowtide::bench
