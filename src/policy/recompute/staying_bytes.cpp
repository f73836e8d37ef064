// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/recompute/staying_bytes.h"

#include <algorithm>
#include <numeric>

namespace lowtide::policy {

using trace::Tick;

namespace {

// Adds to the ticks from `first` to `last`; the lists are differences until they are summed up.
void add(std::vector<std::int64_t>& differences, Tick first, Tick last, std::int64_t bytes) {
  first = std::max(first, 0);
  if (first > last) return;
  differences[static_cast<std::size_t>(first)] += bytes;
  differences[static_cast<std::size_t>(last) + 1] -= bytes;
}

}  // namespace

StayingBytes::StayingBytes(const Trace& trace, const trace::Lifetimes& lifetimes,
                           const cost::CostTable& costs, const std::vector<bool>& leaves,
                           const std::vector<plan::ExtendedLife>& holds)
    : before(static_cast<std::size_t>(lifetimes.end()) + 2, 0), during(before) {
  for (std::size_t i = 0; i < trace.values().size(); ++i) {
    if (leaves[i]) continue;
    const auto value = make_id<ValueId>(i);
    const trace::Lifetime& life = lifetimes.of(value);
    add(before, life.born + 1, life.dies, costs.value(value));
    // What overwrites it takes its bytes over.
    add(during, life.born, life.overwritten ? life.dies - 1 : life.dies, costs.value(value));
  }
  for (const plan::ExtendedLife& hold : holds) {
    const trace::Lifetime& life = lifetimes.of(hold.value);
    add(before, life.dies + 1, hold.until, costs.value(hold.value));
    add(during, life.overwritten ? life.dies : life.dies + 1, hold.until, costs.value(hold.value));
  }
  std::partial_sum(before.begin(), before.end(), before.begin());
  std::partial_sum(during.begin(), during.end(), during.begin());
}

}  // namespace lowtide::policy
