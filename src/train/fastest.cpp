// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/fastest.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/check.h"

namespace lowtide::train {

Fastest fastest_of(const std::map<std::int64_t, double>& rates) {
  LT_CHECK(!rates.empty(), "nothing was tried");
  const auto best = std::max_element(rates.begin(), rates.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  const auto after = std::next(best);
  return {.number = best->first,
          .below = best == rates.begin() ? 0 : std::prev(best)->first,
          .above = after == rates.end() ? 0 : after->first};
}

std::optional<std::int64_t> next_near_fastest(const std::map<std::int64_t, double>& rates) {
  const Fastest best = fastest_of(rates);
  const std::int64_t below = best.below == 0 ? 0 : best.number - best.below;
  const std::int64_t above = best.above == 0 ? 0 : best.above - best.number;
  const std::int64_t narrow = std::max<std::int64_t>(best.number / 8, 1);
  if (std::max(below, above) <= narrow) return std::nullopt;
  return std::midpoint(best.number, below > above ? best.below : best.above);
}

}  // namespace lowtide::train
