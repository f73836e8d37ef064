// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lowtide/online.h"
#include "lowtide/plan.h"
#include "sim/online_places.h"
#include "sim/victim_search.h"

namespace lowtide::sim {

struct OnlineOptions {
  VictimSearch search = VictimSearch::kIndexed;
  // Values smaller than this share of the mean size are left alone while there are others.
  double ignore_below = 0.01;
  // Whether values that the program has let go of stay, once replayed, until room is needed.
  bool keep_dead = false;
  // The run fails once it has replayed this many times as many ops as the step has.
  double max_replays_per_op = 20;
  std::uint64_t seed = 1;
  PlaceOptions places{};
};

// A step run under the problem's budget with an online policy, op by op, as the runtime would.
struct OnlineRun {
  // What it did, as a plan that does the same again; nothing if it did not get through.
  std::optional<Plan> plan;
  std::string failure;
  std::int64_t replays = 0;
  double replay_seconds = 0;
};

// Lifts an online policy to a planner: when an op (or a replay before it) needs room, values are
// dropped in order of score until there is some; when an op reads a dropped value, it is computed
// again, its own inputs first. Only what ReplayReach allows is ever dropped.
OnlineRun run_online(const Problem& problem, OnlinePolicy& policy, const OnlineOptions& options);

}  // namespace lowtide::sim
