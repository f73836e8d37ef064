// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/fetch_ahead.h"

#include <algorithm>
#include <array>

#include "policy/hybrid/copy_lane.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

// What is on its way counts on the link's lane as far as this many stretches back.
constexpr std::size_t kStretchesSearched = 32;
// A copy that cannot begin as early as it should begins this much later, and so on, down to none.
constexpr double kShorterLead = 0.5;
constexpr int kLeadsTried = 4;

void begin_earlier(const Problem& problem, const StepClock& clock, const TakeRoom& take_room,
                   CopyLane& lane, SwapDecision& swap) {
  const std::int64_t bytes = problem.trace->storage_of(swap.value).bytes;
  const double seconds = cost::read_seconds(problem.machine.tier(swap.tier), bytes);
  const double need = clock.start(swap.need);
  const auto slot = lane.latest_nearby(need, seconds, kStretchesSearched);
  if (!slot) return;
  double lead = need - slot->start;
  for (int i = 0; i < kLeadsTried; ++i, lead *= kShorterLead) {
    const Tick issue = std::clamp(clock.last_started_by(need - lead), swap.after + 1, swap.need);
    if (issue == swap.need) return;
    if (!take_room(std::array{Presence{swap.value, issue, swap.need - 1}})) continue;
    if (i == 0) lane.take(*slot);
    swap.issue = issue;
    return;
  }
}

}  // namespace

bool RoomBelow::operator()(std::span<const Presence> wanted) {
  add(wanted, 1);
  if (profile_.max() <= budget_bytes_) return true;
  add(wanted, -1);
  return false;
}

void RoomBelow::add(std::span<const Presence> wanted, std::int64_t sign) {
  for (const Presence& one : wanted) {
    if (one.first > one.last) continue;
    profile_.add(static_cast<std::size_t>(one.first), static_cast<std::size_t>(one.last),
                 sign * costs_.value(one.value));
  }
}

void fetch_ahead(const Problem& problem, const StepClock& clock, const TakeRoom& take_room,
                 std::vector<SwapDecision>& swaps) {
  const auto end = static_cast<Tick>(problem.trace->ops().size());
  std::vector<std::size_t> fetched;
  for (std::size_t i = 0; i < swaps.size(); ++i) {
    if (swaps[i].need <= end) fetched.push_back(i);
  }
  std::stable_sort(fetched.begin(), fetched.end(),
                   [&](std::size_t a, std::size_t b) { return swaps[a].need > swaps[b].need; });
  std::vector<CopyLane> lanes(problem.machine.tiers.size());
  for (const std::size_t i : fetched) {
    begin_earlier(problem, clock, take_room, lanes[swaps[i].tier.slot()], swaps[i]);
  }
}

}  // namespace lowtide::policy
