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
      {.name = "superneurons", .make = make_superneurons, .swaps = true, .replays = true},
      {.name = "sentinel", .make = make_sentinel, .swaps = true},
      {.name = "dtr_megengine", .make = make_dtr_megengine, .replays = true},
      {.name = "coop", .make = make_coop, .replays = true},
      {.name = "knapsack", .make = make_knapsack, .replays = true},
      {.name = "lru", .make = make_lru, .replays = true},
      {.name = "random", .make = make_random, .replays = true},
      {.name = "keep_all", .make = make_keep_all},
      {.name = "belady", .make = make_belady, .swaps = true, .is_last_resort = true},
      {.name = "evict_all", .make = make_evict_all, .swaps = true, .is_last_resort = true},
      // Integer programmes, where a solver is there. autotm takes at most 4 s on a recorded step.
      // checkmate had not answered for a step of 36 ops after 30 s, with a small effort too.
      {.name = "autotm", .make = make_autotm, .swaps = true, .is_last_resort = true},
      {.name = "checkmate", .make = make_checkmate, .replays = true, .is_slow = true},
      // Goes on for 200 replays an op.
      {.name = "evict_all",
       .make = make_evict_all,
       .options = {{"by", "recompute"}},
       .swaps = true,
       .replays = true,
       .is_last_resort = true,
       .is_slow = true},
  };
  return kPolicies;
}

namespace {

bool is_in(const FloorPolicy& policy, Floor floor) {
  return floor == Floor::kAll || (floor == Floor::kQuick && !policy.is_slow);
}

bool is_last_asked(const FloorPolicy& policy, Floor floor) {
  return !is_in(policy, floor) && (policy.is_last_resort || !policy.is_slow);
}

// Without a tier a policy that does both only replays.
bool is_allowed(const FloorPolicy& policy, const Allowed& allowed) {
  if (policy.can_be_limited) return true;
  return (allowed.swap || !policy.swaps || policy.replays) &&
         (allowed.recompute || !policy.replays);
}

std::unique_ptr<Policy> make(const FloorPolicy& policy, const Allowed& allowed) {
  PolicyOptions options = policy.options;
  if (policy.can_be_limited) {
    options["swap"] = allowed.swap ? "yes" : "no";
    options["recompute"] = allowed.recompute ? "yes" : "no";
  }
  return policy.make(options);
}

}  // namespace

std::vector<std::unique_ptr<Policy>> make_floor(Floor floor, const Allowed& allowed,
                                                bool has_last_resort) {
  std::vector<std::unique_ptr<Policy>> policies;
  for (const FloorPolicy& policy : floor_policies()) {
    if (policy.is_last_resort && !has_last_resort) continue;
    if (is_in(policy, floor) && is_allowed(policy, allowed)) {
      policies.push_back(make(policy, allowed));
    }
  }
  return policies;
}

std::vector<std::unique_ptr<Policy>> make_last_resorts(Floor floor, const Allowed& allowed) {
  std::vector<std::unique_ptr<Policy>> policies;
  for (const FloorPolicy& policy : floor_policies()) {
    if (is_last_asked(policy, floor) && is_allowed(policy, allowed)) {
      policies.push_back(make(policy, allowed));
    }
  }
  return policies;
}

}  // namespace lowtide::policy
