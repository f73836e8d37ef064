// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace lowtide::train {

// The number with the highest rate of those that were tried, and the tried ones next to it; 0:
// there is none.
struct Fastest {
  std::int64_t number = 0;
  std::int64_t below = 0;
  std::int64_t above = 0;
};

// Requires: something was tried.
Fastest fastest_of(const std::map<std::int64_t, double>& rates);

// What to try next in search of the highest rate, if the rates rise to it and fall after it: the
// middle of the wider gap beside the fastest. Nothing once no gap is wider than an eighth of the
// fastest. Requires: something was tried.
std::optional<std::int64_t> next_near_fastest(const std::map<std::int64_t, double>& rates);

}  // namespace lowtide::train
