// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "cost/op_cost.h"
#include "lowtide/plan.h"
#include "plan/replay_reach.h"
#include "plan/source_holds.h"
#include "policy/gap_writer.h"
#include "policy/hybrid/capuchin_planner.h"
#include "policy/hybrid/step_clock.h"
#include "trace/lifetimes.h"

namespace lowtide::policy {

// A value between two accesses that lie apart.
struct GapCandidate {
  ValueId value;
  // The evicting access, and the back access.
  trace::Tick from = 0;
  trace::Tick to = 0;
  // The longest gap of its value: the one that may be swapped.
  bool is_longest = false;
  // Nobody reads it again, so that dropping it costs nothing.
  bool is_last = false;
  // What it takes on the device, and what a copy of it carries.
  std::int64_t bytes = 0;
  std::int64_t copy_bytes = 0;
};

// What Capuchin knows of a step before it decides anything: the same for each plan that it makes.
struct CapuchinStep {
  CapuchinStep(const Problem& problem, const CapuchinOptions& options);

  const trace::Lifetimes& lifetimes;
  cost::CostTable costs;
  std::vector<plan::ExtendedLife> holds;
  plan::ReplayReach reach;
  StepClock clock;
  std::vector<GapCandidate> candidates;
  // Those that may be swapped and have time for it, by index, the largest free time first.
  std::vector<std::int32_t> by_free_time;
  // The step without any decision.
  WrittenPlan plain;
};

}  // namespace lowtide::policy
