// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/swap_variation.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace lowtide::policy {
namespace {

using trace::Tick;

// Link shares and prices change by up to this factor.
constexpr double kLinkFactor = 1.2;
constexpr double kSourceFactor = 3;
constexpr double kPriceFactor = 8;

// 1/limit to limit, evenly by the logarithm.
double factor(double limit, base::Random& random) {
  return std::pow(limit, 2 * random.uniform() - 1);
}

// What is made again somewhere and kept for nobody before that.
std::vector<ValueId> replayed_values(const TideStep& step, const KeptSpans& spans) {
  std::vector<ValueId> values;
  for (Tick tick = 0; tick <= step.lifetimes.end(); ++tick) {
    for (const Tick replayed : spans.replays(tick)) {
      for (const Use& write : step.trace.writes(step.lifetimes.op_at(replayed))) {
        if (!write.side_effect && spans.can_change(write.value)) values.push_back(write.value);
      }
    }
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// Multiplies the prices of one of them and some that were made close to it.
void scale_some(const TideStep& step, const std::vector<ValueId>& values, double by,
                base::Random& random, std::vector<float>& prices) {
  if (values.empty()) return;
  const Tick centre = step.lifetimes.of(values[random.below(values.size())]).born;
  const double reach = std::pow(random.uniform(), 4) * step.lifetimes.end() / 4;
  for (const ValueId value : values) {
    if (std::abs(step.lifetimes.of(value).born - centre) > reach) continue;
    prices[value.slot()] *= static_cast<float>(by);
  }
}

}  // namespace

SwapWishes vary_wishes(const TideStep& step, const KeptSpans& spans, SwapWishes wishes,
                       base::Random& random) {
  const std::size_t count = step.trace.values().size();
  wishes.prices.resize(count, 1.0F);
  wishes.wanted_by.assign(count, step.never());
  for (Tick tick = 0; tick <= step.lifetimes.end(); ++tick) {
    for (const Tick replayed : spans.replays(tick)) {
      for (const Use& read : step.trace.reads(step.lifetimes.op_at(replayed))) {
        Tick& wanted = wishes.wanted_by[read.value.slot()];
        if (!read.side_effect) wanted = std::min(wanted, tick);
      }
    }
  }
  if (random.below(2) == 0) wishes.link_share *= factor(kLinkFactor, random);
  if (random.below(3) == 0) wishes.source_price *= factor(kSourceFactor, random);
  const std::vector<ValueId> replayed = replayed_values(step, spans);
  std::vector<ValueId> away;
  for (const AwayValue& a : spans.away()) away.push_back(a.value);
  for (std::uint64_t i = 1 + random.below(2); i > 0; --i) {
    if (random.below(3) != 0) {
      scale_some(step, replayed, std::pow(kPriceFactor, random.uniform()), random, wishes.prices);
    } else {
      scale_some(step, away, std::pow(kPriceFactor, -random.uniform()), random, wishes.prices);
    }
  }
  return wishes;
}

}  // namespace lowtide::policy
