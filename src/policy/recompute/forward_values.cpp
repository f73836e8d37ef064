// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/recompute/forward_values.h"

#include <algorithm>

namespace lowtide::policy {

using trace::Tick;

Tick forward_end(const Trace& trace) {
  const auto& ops = trace.ops();
  const auto last = std::find_if(ops.rbegin(), ops.rend(),
                                 [](const Op& op) { return op.phase == Phase::kForward; });
  return static_cast<Tick>(ops.rend() - last);
}

std::vector<ForwardValue> forward_values(const Trace& trace, const plan::ReplayReach& reach) {
  const trace::Lifetimes& lifetimes = *trace.lifetimes();
  const Tick end = forward_end(trace);
  std::vector<ForwardValue> found;
  for (std::size_t i = 0; i < trace.values().size(); ++i) {
    const auto value = make_id<ValueId>(i);
    const trace::Lifetime& life = lifetimes.of(value);
    if (!reach.can_drop(value) || life.born >= end) continue;
    const auto later = std::lower_bound(life.reads.begin(), life.reads.end(), end);
    const Tick last = later == life.reads.begin() ? life.born : *(later - 1);
    const Tick first_later = later == life.reads.end() ? lifetimes.end() + 1 : *later;
    found.push_back({value, last, first_later});
  }
  return found;
}

}  // namespace lowtide::policy
