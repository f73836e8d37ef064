// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cost/op_cost.h"
#include "lowtide/plan.h"
#include "plan/replay_reach.h"
#include "plan/source_holds.h"
#include "policy/hybrid/step_clock.h"
#include "trace/lifetimes.h"

namespace lowtide::policy {

// What tide knows of a step before it decides anything: the same for each plan that it tries.
struct TideStep {
  explicit TideStep(const Problem& problem);

  const Problem& problem;
  const Trace& trace;
  const trace::Lifetimes& lifetimes;
  cost::CostTable costs;
  std::vector<plan::ExtendedLife> holds;
  plan::ReplayReach reach;
  StepClock clock;
  // The fullest moment of each tick of the plain step, its end included.
  std::vector<std::int64_t> plain_bytes;
  // Values below this size are left alone while there are others: an action costs the host the same
  // for a large one.
  std::int64_t small_bytes = 0;

  // The first read of a value at a tick or later; the end of the step if it outlives that; one more
  // if nobody wants it any more.
  trace::Tick next_read(ValueId value, trace::Tick from) const;
  // What a replay of an op costs: its time on the device, or on the host where that shows. That is
  // where it is longer than the host's lead, or, where the host has none, such a share of it.
  double replay_seconds(OpId op, double host_share) const {
    const Replay& replay = replays_[op.slot()];
    return std::max(replay.seconds, host_share * replay.host_seconds);
  }
  // Whether the device waits for the host even in the plain step, or nearly so.
  bool is_host_bound() const;
  trace::Tick never() const { return lifetimes.end() + 1; }

 private:
  struct Replay {
    double seconds;
    double host_seconds;
  };
  // By op.
  std::vector<Replay> replays_;
};

}  // namespace lowtide::policy
