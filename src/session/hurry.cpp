// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "session/hurry.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace lowtide::session {
namespace {

// A stall of this length is no more than what it takes to measure it.
constexpr double kShortestStall = 20e-6;
// What was late once will be late by a little more at times.
constexpr double kReserve = 1.25;

// The first op before which the value may be fetched: its bytes must have gone before.
OpId earliest_issue(const Plan& plan, const Fetch& fetch) {
  OpId earliest{0};
  for (const Action& action : plan.actions) {
    const Move* move = std::get_if<Move>(&action);
    if (move == nullptr || move->value != fetch.value || !(move->after < fetch.issue_before)) {
      continue;
    }
    earliest = std::max(earliest, make_id<OpId>(move->after.slot() + 1));
  }
  return earliest;
}

// So many seconds of ops before `op`, but not before `earliest`.
OpId ahead_of(const Trace& trace, OpId op, double seconds, OpId earliest) {
  std::size_t slot = op.slot();
  while (slot > earliest.slot() && seconds > 0) {
    --slot;
    seconds -= trace.op(make_id<OpId>(slot)).device_seconds.value_or(0);
  }
  return make_id<OpId>(slot);
}

// Tries shorter and shorter ways ahead until the plan holds. False: none does.
bool start_earlier(const Problem& problem, Plan& plan, const engine::Stall& stall) {
  // What was fetched by the plan before this one may have been waited for under this one.
  const auto action = static_cast<std::size_t>(stall.action);
  if (action >= plan.actions.size()) return false;
  Fetch* fetch = std::get_if<Fetch>(&plan.actions[action]);
  if (fetch == nullptr) return false;
  const OpId issue = fetch->issue_before;
  const OpId earliest = earliest_issue(plan, *fetch);
  constexpr int kTries = 4;
  double seconds = kReserve * stall.seconds;
  for (int i = 0; i < kTries; ++i, seconds /= 2) {
    fetch->issue_before = ahead_of(*problem.trace, issue, seconds, earliest);
    if (fetch->issue_before == issue) break;
    if (verify(problem, plan).ok()) return true;
  }
  fetch->issue_before = issue;
  return false;
}

}  // namespace

HurriedPlan hurry(const Problem& problem, Plan plan, std::span<const engine::Stall> stalls) {
  std::vector<engine::Stall> late(stalls.begin(), stalls.end());
  std::erase_if(late, [](const engine::Stall& stall) { return stall.seconds < kShortestStall; });
  std::sort(late.begin(), late.end(), [](const engine::Stall& a, const engine::Stall& b) {
    return std::pair(-a.seconds, a.action) < std::pair(-b.seconds, b.action);
  });
  HurriedPlan hurried{.plan = std::move(plan)};
  for (const engine::Stall& stall : late) {
    if (start_earlier(problem, hurried.plan, stall)) ++hurried.fetches;
  }
  return hurried;
}

}  // namespace lowtide::session
