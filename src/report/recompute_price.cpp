// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/recompute_price.h"

#include <algorithm>
#include <set>

#include "cost/op_cost.h"
#include "trace/lifetimes.h"

namespace lowtide::report {
namespace {

// Longer chains are nobody's choice.
constexpr std::size_t kMostOps = 200;

}  // namespace

RecomputePrices::RecomputePrices(const SimulatedStep& step)
    : step_(step), stays_(step.problem.trace->storages().size()) {
  for (const sim::Stay& stay : step.log.stays) {
    if (stay.storage.valid()) stays_[stay.storage.slot()].push_back(&stay);
  }
}

// Positions, not times: a value that goes with the op is there for it.
bool RecomputePrices::is_on_device(ValueId value, OpId op) const {
  const Trace& trace = *step_.problem.trace;
  const trace::Lifetimes& lifetimes = *trace.lifetimes();
  if (!lifetimes.of(value).exists_at(lifetimes.tick_of(op))) return false;
  const auto& stays = stays_[trace.value(value).storage.slot()];
  return std::any_of(stays.begin(), stays.end(),
                     [&](const sim::Stay* stay) { return stay->from <= op && op <= stay->to; });
}

std::optional<double> RecomputePrices::of(ValueId value, OpId op) const {
  const Trace& trace = *step_.problem.trace;
  const trace::Lifetimes& lifetimes = *trace.lifetimes();
  double seconds = 0;
  std::set<OpId> ops;
  std::vector<ValueId> wanted{value};
  while (!wanted.empty()) {
    const ValueId next = wanted.back();
    wanted.pop_back();
    const Value& made = trace.value(next);
    if (made.is_source()) {
      // It can be fetched as long as nobody has overwritten it.
      if (next == value || !lifetimes.of(next).exists_at(lifetimes.tick_of(op))) return {};
      continue;
    }
    if (!trace.is_replayable(made.producer)) return {};
    if (!ops.insert(made.producer).second) continue;
    if (ops.size() > kMostOps) return {};
    seconds += cost::op_seconds(trace, trace.op(made.producer), step_.problem.machine);
    for (const Use& use : trace.reads(made.producer)) {
      if (!use.side_effect && !is_on_device(use.value, op)) wanted.push_back(use.value);
    }
  }
  return seconds;
}

}  // namespace lowtide::report
