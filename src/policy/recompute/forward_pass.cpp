// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/recompute/forward_pass.h"

#include <cmath>
#include <numeric>

#include "policy/recompute/forward_values.h"

namespace lowtide::policy {

using trace::Tick;

ForwardPass::ForwardPass(const Trace& trace, const trace::Lifetimes& lifetimes,
                         const plan::ReplayReach& reach) {
  end = forward_end(trace);
  for (const ForwardValue& value : forward_values(trace, reach)) {
    values.push_back(value.value);
    last_forward.push_back(value.last_forward);
    first_later.push_back(value.first_later);
  }
  find_candidates(lifetimes);
}

void ForwardPass::find_candidates(const trace::Lifetimes& lifetimes) {
  const auto ticks = static_cast<std::size_t>(end);
  if (ticks == 0) return;
  std::vector<std::int32_t> crossing(ticks + 1, 0);
  std::vector<std::int32_t> overwritten(ticks + 1, 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const trace::Lifetime& life = lifetimes.of(values[i]);
    const auto born = static_cast<std::size_t>(life.born);
    const auto last = static_cast<std::size_t>(last_forward[i]);
    ++crossing[born];
    --crossing[last];
    if (!life.overwritten || life.dies >= end) continue;
    ++overwritten[born];
    --overwritten[last];
  }
  std::partial_sum(crossing.begin(), crossing.end(), crossing.begin());
  std::partial_sum(overwritten.begin(), overwritten.end(), overwritten.begin());
  const auto enough = static_cast<std::size_t>(std::sqrt(static_cast<double>(ticks))) + 1;
  for (std::int32_t k = 1; k <= 64 && candidates.size() < enough; ++k) {
    candidates.clear();
    for (std::size_t t = 0; t < ticks; ++t) {
      const bool is_narrow = crossing[t] >= 1 && crossing[t] <= k;
      if (is_narrow && overwritten[t] == 0) candidates.push_back(static_cast<Tick>(t));
    }
  }
}

}  // namespace lowtide::policy
