// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/tide_step.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "policy/gap_writer.h"

namespace lowtide::policy {
namespace {

constexpr std::int64_t kSmallShareOfBudget = 2000;
// The host is ahead of the device by about this much while it issues ops; what takes it longer than
// that shows.
constexpr double kHostLeadSeconds = 0.2e-3;
// Beyond this part of the device's time the host's is likely too long once it has to carry out a
// plan.
constexpr double kHostBoundShare = 0.5;

std::vector<std::int64_t> plain_profile(const Problem& problem, const trace::Lifetimes& lifetimes,
                                        const cost::CostTable& costs) {
  std::optional<WrittenPlan> plain = weigh_gaps(problem, lifetimes, costs, {}, 0);
  LT_CHECK(plain, "the plain step can be written");
  return std::move(plain->tick_bytes);
}

}  // namespace

TideStep::TideStep(const Problem& given)
    : problem(given),
      trace(*given.trace),
      lifetimes(*given.trace->lifetimes()),
      costs(trace, given.machine),
      holds(plan::hold_sources(given, lifetimes, costs)),
      reach(trace, lifetimes, holds),
      clock(given),
      plain_bytes(plain_profile(given, lifetimes, costs)),
      small_bytes(std::min(base::kMiB, given.budget_bytes / kSmallShareOfBudget)) {
  replays_.reserve(trace.ops().size());
  for (std::size_t i = 0; i < trace.ops().size(); ++i) {
    const double host_seconds =
        cost::issue_seconds(trace.ops()[i], given.machine) + given.machine.action_seconds;
    replays_.push_back(
        {std::max(costs.op_seconds[i], host_seconds - kHostLeadSeconds), host_seconds});
  }
}

bool TideStep::is_host_bound() const {
  double host_seconds = 0;
  for (const Op& op : trace.ops()) host_seconds += cost::issue_seconds(op, problem.machine);
  return host_seconds > kHostBoundShare * costs.total_seconds;
}

trace::Tick TideStep::next_read(ValueId value, trace::Tick from) const {
  const trace::Lifetime& life = lifetimes.of(value);
  const auto next = std::lower_bound(life.reads.begin(), life.reads.end(), from);
  if (next != life.reads.end()) return *next;
  return life.at_end ? lifetimes.end() : never();
}

}  // namespace lowtide::policy
