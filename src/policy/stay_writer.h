// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowtide/plan.h"
#include "policy/gap_writer.h"
#include "trace/lifetimes.h"

namespace lowtide::policy {

// A value is on the device from one tick to another, both included: from the op that makes it, or
// from the prelude of a later tick, for which it is replayed. Past its natural death it is held.
struct Stay {
  ValueId value;
  trace::Tick from = 0;
  trace::Tick to = 0;
};

struct StayDecisions {
  // By value: whether it is there in its stays only. Every other value has its natural life, and
  // its stays may make that longer.
  std::vector<bool> leaves;
  // In any order; those of one value that have a tick in common are one. One that begins in the
  // tick after another begins with a replay.
  std::vector<Stay> stays;
  // Values that are in a tier between a stay that ends with `after` and one that begins with
  // `need`; before that, a replay that needs one brings it back. At most one for each value.
  // Requires: the program has the value for as long.
  std::vector<SwapDecision> swaps;
};

// Turns decisions about what is there when into the actions of a plan. What a tick needs beyond
// that is replayed for this tick alone, each op at most once and in order of execution, and goes
// again as soon as it has been read. Where a GapDecisions says what leaves and lets it come back
// when it is needed, this says what is there, and can keep what the program lets go of.
// Returns nothing if something would have to be replayed that cannot be, or if there are more than
// `max_replays` replays. Peak and legality are for verify() to tell.
std::optional<std::vector<Action>> write_stays(const Trace& trace,
                                               const trace::Lifetimes& lifetimes,
                                               const StayDecisions& decisions,
                                               std::int64_t max_replays);

}  // namespace lowtide::policy
