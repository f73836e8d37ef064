// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/smallest_budget.h"

#include <algorithm>

namespace lowtide::policy {

std::int64_t smallest_budget(std::int64_t fails_at, std::int64_t works_at,
                             const std::function<bool(std::int64_t)>& works) {
  const std::int64_t narrow = std::max<std::int64_t>(1, works_at / 100);
  while (works_at - fails_at > narrow) {
    const std::int64_t middle = fails_at + (works_at - fails_at) / 2;
    (works(middle) ? works_at : fails_at) = middle;
  }
  return works_at;
}

std::int64_t first_granted_budget(const Problem& problem, std::int64_t first_try_bytes,
                                  const std::function<PlanOutcome(const Problem&)>& plan) {
  Problem larger = problem;
  larger.budget_bytes = first_try_bytes;
  while (true) {
    const PlanOutcome outcome = plan(larger);
    const auto* refusal = std::get_if<Refusal>(&outcome);
    if (refusal == nullptr) return larger.budget_bytes;
    larger.budget_bytes = refusal->smallest_budget_bytes;
  }
}

PlanOutcome plan_or_grant(const Problem& problem,
                          const std::function<PlanOutcome(const Problem&)>& plan) {
  PlanOutcome outcome = plan(problem);
  if (auto* refusal = std::get_if<Refusal>(&outcome)) {
    refusal->smallest_budget_bytes =
        first_granted_budget(problem, refusal->smallest_budget_bytes, plan);
  }
  return outcome;
}

}  // namespace lowtide::policy
