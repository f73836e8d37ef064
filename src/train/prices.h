// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "train/price_curve.h"

// What the figures of a price curve come to.

namespace lowtide::train {

// Over the rounds.
struct Spread {
  double middle = 0;
  double least = 0;
  double most = 0;
};

// Requires: at least one value. The middle is the median.
Spread spread_of(const std::vector<double>& values);

// What a further GiB is worth: the time of a step that is saved for each GiB that is added to a
// budget on the way to the next larger one that was measured, or to what plain training takes.
struct MemoryPrice {
  double seconds_per_gib = 0;
  // The same, as a share of the plain step.
  double share_per_gib = 0;
  // Whether the two spreads do not overlap; what is less than the spread is noise.
  bool is_certain = false;
};

// By point of the curve; nothing for a budget that is refused and for the largest, unless plain
// training takes more than it. Requires: at least one round.
std::vector<std::optional<MemoryPrice>> memory_prices(const PriceCurve& curve);

}  // namespace lowtide::train
