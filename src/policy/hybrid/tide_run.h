// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "policy/gap_writer.h"
#include "policy/hybrid/tide_step.h"

namespace lowtide::policy {

// How one run weighs what it could drop: price · seconds to replay / (bytes · idle seconds).
struct TideWeights {
  // Idle times beyond this part of the step count alike: what matters is the room now.
  double horizon = 0.03;
  // See ReplayPrices.
  double shared = 0.5;
  double host_share = 0;
  // Whether replayed values that the program has let go of stay for further replays.
  bool keep_dead = false;
  // Whether anything may be dropped that has to be replayed later.
  bool may_replay = true;
  // By value; empty where all are 1.
  std::vector<float> prices;
};

struct TideRun {
  std::vector<Action> actions;
  // Swapped values that a replay asked for before they were due back, and when.
  std::vector<std::pair<ValueId, trace::Tick>> early_needs;
  // Whether the plan holds although some came early; if not, the swaps have to be planned again.
  bool is_valid = true;
};

// Runs the step under its budget, op by op. The given swaps happen when they say; whenever room is
// lacking beyond that, values are dropped by the weights, with their next uses known. What is read
// and not there is computed again, and stays from then on until room is lacking again: a chain of
// dropped values is replayed once for all its readers where there is room. Returns nothing if
// something does not fit, or if replays and waits take more than the given seconds.
std::optional<TideRun> run_tide(const TideStep& step, const TideWeights& weights,
                                const std::vector<SwapDecision>& swaps, double max_extra_seconds);

}  // namespace lowtide::policy
