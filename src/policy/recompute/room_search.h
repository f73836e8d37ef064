// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/plan.h"
#include "lowtide/policy.h"

namespace lowtide::policy {

// For policies that solve a model of the step in which room is counted in units: the model is not
// the step, so what its answers take in truth is found out by writing them down and checking them.
struct RoomSearch {
  std::string policy;
  // Rooms at which the model has another answer, the smallest first.
  std::vector<std::int32_t> rooms;
  // The answer for a room; nothing if it cannot be written.
  std::function<std::optional<std::vector<Action>>(std::int32_t)> write;
  // Of two plans that fit, the one that is less is taken.
  std::function<double(const Plan&)> cost;
  // A budget at which the policy has no need of all this.
  std::int64_t plain_peak_bytes = 0;
};

// The cheapest plan found that fits, or a refusal with the smallest peak found. More room mostly
// means a higher peak, so the largest that fits is found by halving; a few rooms around it are
// tried too, and the smallest ones if none fits.
PlanOutcome search_rooms(const Problem& problem, const RoomSearch& search);

}  // namespace lowtide::policy
