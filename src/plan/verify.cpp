// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <utility>

#include "base/check.h"
#include "plan/findings.h"
#include "plan/order_check.h"
#include "plan/sift.h"
#include "plan/walk.h"

namespace lowtide {
namespace {

using Kind = Violation::Kind;

// One violation for the whole step, at its fullest moment: a plan that is over its budget is so in
// many ticks.
void check_bytes(const Problem& problem, const plan::WalkResult& result, plan::Findings& findings) {
  const Trace& trace = *problem.trace;
  if (result.peak_bytes > problem.budget_bytes) {
    findings.add(
        {Kind::kOverBudget, result.peak_op, ValueId{},
         base::concat("the device holds ", result.peak_bytes, " bytes at ",
                      trace.op_name(result.peak_op), ", ", result.peak_bytes - problem.budget_bytes,
                      " more than the budget of ", problem.budget_bytes)});
  }
  for (std::size_t i = 0; i < problem.machine.tiers.size(); ++i) {
    const Tier& tier = problem.machine.tiers[i];
    const std::int64_t over = result.tier_peak_bytes[i] - tier.capacity_bytes;
    if (over <= 0) continue;
    findings.add({Kind::kOverTierCapacity, result.tier_peak_op[i], ValueId{},
                  base::concat("tier ", tier.name, " holds ", result.tier_peak_bytes[i],
                               " bytes at ", trace.op_name(result.tier_peak_op[i]), ", ", over,
                               " more than its capacity of ", tier.capacity_bytes)});
  }
}

}  // namespace

Verdict verify(const Problem& problem, const Plan& plan) {
  plan::Findings findings;
  Verdict verdict;
  verdict.tier_peak_bytes.resize(problem.machine.tiers.size(), 0);
  const std::string own = digest(*problem.trace);
  if (plan.trace_digest != own) {
    // Its names would mean something else here.
    verdict.violations.push_back({Kind::kWrongTrace, OpId{}, ValueId{},
                                  base::concat("the plan belongs to another trace (digest ",
                                               plan.trace_digest, ", this trace has ", own, ")")});
    return verdict;
  }
  // A walk in an impossible order would only find the same fault again and again.
  plan::check_order(problem, plan, findings);
  const bool can_walk = findings.empty();
  const Plan sound = plan::sift(problem, plan, findings);
  if (can_walk) {
    plan::WalkResult result = plan::walk(problem, sound, findings);
    check_bytes(problem, result, findings);
    verdict.peak_bytes = result.peak_bytes;
    verdict.peak_op = result.peak_op;
    verdict.tier_peak_bytes = std::move(result.tier_peak_bytes);
  }
  verdict.violations = findings.take();
  return verdict;
}

}  // namespace lowtide
