// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cost/op_cost.h"
#include "lowtide/plan.h"
#include "plan/source_holds.h"
#include "trace/lifetimes.h"

namespace lowtide::policy {

// A value leaves the device after this tick and comes back by replay when something reads it.
struct DropDecision {
  ValueId value;
  trace::Tick after = 0;
};

// A value moves to a tier after one tick; its way back starts before another and ends before a
// third. A replay that needs it earlier brings it back then.
struct SwapDecision {
  ValueId value;
  TierId tier;
  trace::Tick after = 0;
  trace::Tick issue = 0;
  trace::Tick need = 0;
};

// Whether a replayed value that the program still has stays until its next drop; else it goes as
// soon as the replays of the tick are through with it. The arguments are the value and the original
// ticks of the first and the last op that are replayed together.
using KeepReplayed = std::function<bool(ValueId, trace::Tick, trace::Tick)>;

struct GapDecisions {
  std::vector<DropDecision> drops;
  std::vector<SwapDecision> swaps;
  // Values that stay past their natural death, because replays start from them.
  std::vector<plan::ExtendedLife> holds;
  // Sources that lie in a tier when the step begins; their first swap has after = -1.
  std::vector<StartsIn> starts;
  // Ops that run on the host's processor, each by an implementation marked so. What they read lies
  // in the first tier by then, and what they make appears there: a swap that leaves with the op
  // brings it back.
  std::vector<Choose> on_host;
  KeepReplayed keep_replayed;
};

struct WrittenPlan {
  std::vector<StartsIn> starts;
  std::vector<Action> actions;
  std::int64_t peak_bytes = 0;
  // The fullest moment of each tick, the end of the step included.
  std::vector<std::int64_t> tick_bytes;
  std::int64_t replays = 0;
  double replay_seconds = 0;
};

// Turns decisions about what leaves when into a plan: adds the replays, each op at most once a tick
// and in order of execution, that bring dropped values back before an op reads them, and counts the
// bytes. Returns nothing if something would have to be replayed that cannot be, or if there are
// more than `max_replays` replays; a planner then decides otherwise.
std::optional<WrittenPlan> write_gaps(const Problem& problem, const trace::Lifetimes& lifetimes,
                                      const cost::CostTable& costs, const GapDecisions& decisions,
                                      std::int64_t max_replays);

// The same where nothing is dropped, so that nothing can be in the way.
WrittenPlan write_moves(const Problem& problem, const trace::Lifetimes& lifetimes,
                        const cost::CostTable& costs, const GapDecisions& moves);

// The same figures without the actions, for a planner that tries many decisions: on long steps the
// actions are most of the work.
std::optional<WrittenPlan> weigh_gaps(const Problem& problem, const trace::Lifetimes& lifetimes,
                                      const cost::CostTable& costs, const GapDecisions& decisions,
                                      std::int64_t max_replays);

// The plan as policies return it.
Plan finish_plan(const Problem& problem, std::string policy, WrittenPlan written);

}  // namespace lowtide::policy
