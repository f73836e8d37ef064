// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/source_holds.h"

#include <algorithm>
#include <cstdint>

namespace lowtide::plan {
namespace {

using trace::Tick;

constexpr double kHoldShare = 0.05;

// By value: the last tick that needs something computed from it by ops that may be replayed.
std::vector<Tick> needed_until(const Trace& trace, const trace::Lifetimes& lifetimes) {
  std::vector<Tick> needed(trace.values().size(), -1);
  for (Tick tick = lifetimes.end(); tick-- > 0;) {
    const OpId id = lifetimes.op_at(tick);
    if (!trace.is_replayable(id)) continue;
    Tick last = -1;
    for (const Use& write : trace.writes(id)) {
      if (write.side_effect) continue;
      const trace::Lifetime& life = lifetimes.of(write.value);
      last = std::max(
          {last, life.at_end ? lifetimes.end() : life.last_read(), needed[write.value.slot()]});
    }
    for (const Use& read : trace.reads(id)) {
      if (!read.side_effect) needed[read.value.slot()] = std::max(needed[read.value.slot()], last);
    }
  }
  return needed;
}

std::int64_t plain_peak_bytes(const Trace& trace, const trace::Lifetimes& lifetimes,
                              const cost::CostTable& costs) {
  std::int64_t live = 0;
  for (std::size_t i = 0; i < trace.values().size() && trace.values()[i].is_source(); ++i) {
    live += costs.value(make_id<ValueId>(i));
  }
  std::int64_t peak = live;
  for (Tick tick = 0; tick < lifetimes.end(); ++tick) {
    const OpId id = lifetimes.op_at(tick);
    for (const Use& write : trace.writes(id)) {
      // A later version takes over its storage's bytes.
      if (trace.value(write.value).version == 0) live += costs.value(write.value);
    }
    peak = std::max(peak, live + costs.workspace(id));
    for (const ValueId dead : lifetimes.deaths(tick)) {
      if (!lifetimes.of(dead).overwritten) live -= costs.value(dead);
    }
  }
  return peak;
}

}  // namespace

std::vector<ExtendedLife> hold_sources(const Problem& problem, const trace::Lifetimes& lifetimes,
                                       const cost::CostTable& costs) {
  const Trace& trace = *problem.trace;
  if (plain_peak_bytes(trace, lifetimes, costs) <= problem.budget_bytes) return {};
  const std::vector<Tick> needed = needed_until(trace, lifetimes);
  std::vector<ExtendedLife> holds;
  for (std::size_t i = 0; i < trace.values().size(); ++i) {
    if (!trace.values()[i].is_source()) break;  // sources come first
    const auto value = make_id<ValueId>(i);
    const trace::Lifetime& life = lifetimes.of(value);
    if (needed[i] <= life.dies) continue;
    const bool updated =
        life.overwritten && trace.op(lifetimes.op_at(life.dies)).phase == Phase::kOptimizer;
    if (updated) continue;
    holds.push_back({value, needed[i]});
  }
  std::stable_sort(holds.begin(), holds.end(), [&](const ExtendedLife& a, const ExtendedLife& b) {
    return costs.value(a.value) < costs.value(b.value);
  });
  const auto max_bytes =
      static_cast<std::int64_t>(kHoldShare * static_cast<double>(problem.budget_bytes));
  std::int64_t bytes = 0;
  std::size_t count = 0;
  while (count < holds.size() && bytes + costs.value(holds[count].value) <= max_bytes) {
    bytes += costs.value(holds[count++].value);
  }
  holds.resize(count);
  return holds;
}

}  // namespace lowtide::plan
