// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/swap/fetch_schedule.h"

#include <algorithm>

#include "policy/hybrid/copy_lane.h"
#include "policy/hybrid/step_clock.h"
#include "policy/saved_values.h"

namespace lowtide::policy {
namespace {

// How many stretches of copies a copy back may have to go around.
constexpr std::size_t kStretchesSearched = 32;

}  // namespace

void fetch_in_time(const Problem& problem, const cost::CostTable& costs, double lead,
                   std::vector<SwapDecision>& swaps, std::vector<std::int64_t>& tick_bytes) {
  if (swaps.empty()) return;
  const StepClock clock(problem, costs);
  std::vector<SwapDecision*> from_last;
  for (SwapDecision& swap : swaps) from_last.push_back(&swap);
  std::stable_sort(from_last.begin(), from_last.end(),
                   [](const SwapDecision* a, const SwapDecision* b) { return a->need > b->need; });
  CopyLane lane;
  std::vector<trace::Tick> wanted;
  for (const SwapDecision* swap : from_last) {
    const std::int64_t bytes = problem.trace->storage_of(swap->value).bytes;
    const double seconds = lead * cost::read_seconds(problem.machine.tiers[0], bytes);
    const auto slot = lane.latest_nearby(clock.start(swap->need), seconds, kStretchesSearched);
    if (slot) lane.take(*slot);
    wanted.push_back(slot ? clock.last_started_by(slot->start) : swap->need);
  }
  // Room goes to those first that are needed first.
  for (std::size_t i = wanted.size(); i-- > 0;) {
    fetch_early(*from_last[i], wanted[i], costs.value(from_last[i]->value), problem.budget_bytes,
                tick_bytes);
  }
}

}  // namespace lowtide::policy
