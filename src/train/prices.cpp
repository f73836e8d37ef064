// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/prices.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "base/median.h"

namespace lowtide::train {
namespace {

struct Place {
  std::int64_t bytes = 0;
  Spread ratio{};
};

// The ratios are compared, not the seconds: they hold when the machine changes its speed.
std::optional<MemoryPrice> price_between(const Place& smaller, const Place& larger,
                                         double plain_seconds) {
  const auto added_bytes = static_cast<double>(larger.bytes - smaller.bytes);
  if (added_bytes <= 0) return std::nullopt;
  const double share = (smaller.ratio.middle - larger.ratio.middle) /
                       (added_bytes / static_cast<double>(base::kGiB));
  return MemoryPrice{.seconds_per_gib = share * plain_seconds,
                     .share_per_gib = share,
                     .is_certain = smaller.ratio.least > larger.ratio.most ||
                                   smaller.ratio.most < larger.ratio.least};
}

}  // namespace

Spread spread_of(const std::vector<double>& values) {
  LT_CHECK(!values.empty(), "nothing was measured");
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*base::median(values), *least, *most};
}

std::vector<std::optional<MemoryPrice>> memory_prices(const PriceCurve& curve) {
  const double plain_seconds = spread_of(curve.plain_seconds).middle;
  Place larger = {curve.plain_peak_bytes, {1, 1, 1}};
  std::vector<std::optional<MemoryPrice>> prices;
  for (const CurvePoint& point : curve.points) {
    prices.emplace_back();
    if (point.is_refused()) continue;
    const Place place = {point.budget_bytes, spread_of(point.ratios)};
    prices.back() = price_between(place, larger, plain_seconds);
    larger = place;
  }
  return prices;
}

}  // namespace lowtide::train
