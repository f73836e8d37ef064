// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lowtide/plan.h"
#include "policy/gap_writer.h"
#include "policy/hybrid/tide_step.h"

namespace lowtide::policy {

// A plan and what the simulator says of it.
struct TimedPlan {
  Plan plan;
  double seconds = 0;
};

// Takes plans, and swaps without a plan, as seeds, makes each better for a while (tide_refine) and
// goes on with the one that came furthest. The simulator says how far; verify() looks at each plan
// before it counts, since nothing else checks the books of the search.
class TidePolisher {
 public:
  // Both must outlive it. `problem` is that of the step.
  TidePolisher(const Problem& problem, const TideStep& step, std::uint64_t seed);
  ~TidePolisher();

  // `host_share`: see TideStep::replay_seconds. A plan that does more than drop, hold, replay and
  // move values once each is left out.
  void add_plan(const Plan& plan, double host_share);
  void add_swaps(std::vector<SwapDecision> swaps, double host_share);

  // The best plan there is after so much work, `best` included.
  std::optional<TimedPlan> polish(std::optional<TimedPlan> best, std::int64_t work);

 private:
  struct Seed;

  void refine(Seed& seed, std::int64_t work, std::optional<TimedPlan>& best);
  std::vector<struct AwayValue> away_values(const Plan& plan) const;

  const Problem& problem_;
  const TideStep& step_;
  std::uint64_t random_seed_;
  std::string digest_;
  std::vector<std::unique_ptr<Seed>> seeds_;
};

}  // namespace lowtide::policy
