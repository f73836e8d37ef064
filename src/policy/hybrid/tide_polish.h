// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/random.h"
#include "lowtide/plan.h"
#include "policy/gap_writer.h"
#include "policy/hybrid/tide_step.h"
#include "policy/hybrid/tide_swaps.h"

namespace lowtide::policy {

// A plan and what the simulator says of it.
struct TimedPlan {
  Plan plan;
  double seconds = 0;
};

// Takes plans, and swaps without a plan, as seeds, makes each better for a while (tide_refine) and
// goes on with the one that came furthest, also with other swaps than its own. The simulator says
// how far; verify() looks at each plan before it counts, since nothing else checks the books of the
// search.
class TidePolisher {
 public:
  // Both must outlive it. `problem` is that of the step.
  TidePolisher(const Problem& problem, const TideStep& step, std::uint64_t seed);
  ~TidePolisher();

  // `host_share`: see TideStep::replay_seconds. A plan that does more than drop, hold, replay and
  // move values once each is left out. `wishes`: what swaps are varied from.
  void add_plan(const Plan& plan, const SwapWishes& wishes, double host_share);
  // `coverage_power`: see TideRefiner::make_fit.
  void add_swaps(const SwapWishes& wishes, double host_share, double coverage_power);

  // The best plan there is after so much work, `best` included.
  std::optional<TimedPlan> polish(std::optional<TimedPlan> best, std::int64_t work);

 private:
  struct Seed;

  // Goes on with other swaps, a few at a time, where that makes a seed better.
  void vary_swaps(std::unique_ptr<Seed>& seed, std::int64_t work, std::optional<TimedPlan>& best);
  // Whether it fits after no more than so much work.
  static bool make_fit(Seed& seed, std::int64_t work);
  void refine(Seed& seed, std::int64_t work, std::optional<TimedPlan>& best);
  std::vector<struct AwayValue> away_values(const Plan& plan) const;
  std::vector<struct AwayValue> planned_away(const SwapWishes& wishes) const;

  const Problem& problem_;
  const TideStep& step_;
  base::Random random_;
  std::string digest_;
  std::vector<std::unique_ptr<Seed>> seeds_;
};

}  // namespace lowtide::policy
