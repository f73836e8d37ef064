// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/replay_reach.h"

#include <algorithm>

namespace lowtide::plan {

using trace::Lifetime;
using trace::Tick;

namespace {

std::vector<bool> replayable_ops(const Trace& trace) {
  std::vector<bool> replayable(trace.ops().size());
  for (std::size_t i = 0; i < replayable.size(); ++i) {
    replayable[i] = trace.is_replayable(make_id<OpId>(i));
  }
  return replayable;
}

}  // namespace

ReplayReach::ReplayReach(const Trace& trace, const trace::Lifetimes& lifetimes,
                         const std::vector<ExtendedLife>& holds)
    : ReplayReach(trace, lifetimes, holds, replayable_ops(trace)) {}

ReplayReach::ReplayReach(const Trace& trace, const trace::Lifetimes& lifetimes,
                         const std::vector<ExtendedLife>& holds, const std::vector<bool>& replayed)
    : until_(trace.values().size(), -1), droppable_(trace.values().size(), false) {
  std::vector<Tick> held(trace.values().size(), -1);
  for (const ExtendedLife& hold : holds) held[hold.value.slot()] = hold.until;
  // How long an input is there for a replay. What may be dropped is taken to have been dropped;
  // what may not stays for as long as it naturally exists.
  const auto available_until = [&](ValueId input) {
    if (droppable_[input.slot()]) return until_[input.slot()];
    return std::max(lifetimes.of(input).dies, held[input.slot()]);
  };
  // In order of execution, so that the inputs of an op come before its results.
  for (Tick tick = 0; tick < lifetimes.end(); ++tick) {
    const OpId id = lifetimes.op_at(tick);
    if (!replayed[id.slot()]) continue;
    Tick until = lifetimes.end();
    for (const Use& read : trace.reads(id)) {
      if (!read.side_effect) until = std::min(until, available_until(read.value));
    }
    for (const Use& write : trace.writes(id)) {
      if (write.side_effect) continue;
      const Lifetime& life = lifetimes.of(write.value);
      const Tick last_need = life.at_end ? lifetimes.end() : life.last_read();
      until_[write.value.slot()] = until;
      droppable_[write.value.slot()] = until >= last_need && !trace.storage_of(write.value).pinned;
    }
  }
}

}  // namespace lowtide::plan
