// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/tide_floor.h"

#include "policy/factories.h"

namespace lowtide::policy {

const std::vector<FloorPolicy>& floor_policies() {
  static const std::vector<FloorPolicy> kPolicies{
      {.name = "capuchin",
       .make = make_capuchin,
       .swaps = true,
       .replays = true,
       .can_be_limited = true},
      {.name = "dtr", .make = make_dtr, .replays = true},
      {.name = "sublinear", .make = make_sublinear, .replays = true},
      {.name = "vdnn", .make = make_vdnn, .swaps = true},
      {.name = "vdnn_pp", .make = make_vdnn_pp, .swaps = true},
      {.name = "modnn", .make = make_modnn, .swaps = true},
      {.name = "zero_offload", .make = make_zero_offload, .swaps = true},
      {.name = "flashneuron", .make = make_flashneuron, .swaps = true},
      {.name = "rotor", .make = make_rotor, .replays = true},
      {.name = "pofo", .make = make_pofo, .swaps = true, .replays = true},
      {.name = "selective", .make = make_selective, .replays = true},
      // They look for long for the best that they know, for plans that hardly ever are the
      // quickest.
      {.name = "superneurons",
       .make = make_superneurons,
       .swaps = true,
       .replays = true,
       .is_slow = true},
      {.name = "sentinel", .make = make_sentinel, .swaps = true, .is_slow = true},
      {.name = "autotm", .make = make_autotm, .swaps = true, .is_slow = true},
      {.name = "checkmate", .make = make_checkmate, .replays = true, .is_slow = true},
      {.name = "dtr_megengine", .make = make_dtr_megengine, .replays = true, .is_slow = true},
      {.name = "coop", .make = make_coop, .replays = true, .is_slow = true},
      {.name = "knapsack", .make = make_knapsack, .replays = true, .is_slow = true},
      // Where they refuse, as they often do, they look for long for a budget that works.
      {.name = "lru", .make = make_lru, .replays = true, .is_slow = true},
      {.name = "random", .make = make_random, .replays = true, .is_slow = true},
      {.name = "keep_all", .make = make_keep_all},
      {.name = "belady", .make = make_belady, .swaps = true, .is_last_resort = true},
      {.name = "evict_all", .make = make_evict_all, .swaps = true, .is_last_resort = true},
  };
  return kPolicies;
}

std::vector<std::unique_ptr<Policy>> make_floor(Floor floor, bool may_swap, bool may_recompute,
                                                bool has_last_resort) {
  std::vector<std::unique_ptr<Policy>> policies;
  if (floor == Floor::kNone) return policies;
  for (const FloorPolicy& policy : floor_policies()) {
    if (policy.is_last_resort && !has_last_resort) continue;
    if (policy.is_slow && floor != Floor::kAll) continue;
    if (policy.can_be_limited) {
      policies.push_back(policy.make(
          {{"swap", may_swap ? "yes" : "no"}, {"recompute", may_recompute ? "yes" : "no"}}));
    } else if ((may_swap || !policy.swaps) && (may_recompute || !policy.replays)) {
      policies.push_back(policy.make({}));
    }
  }
  return policies;
}

}  // namespace lowtide::policy
