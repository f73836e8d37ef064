// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/study.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"

namespace lowtide::report {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A run may go on with a plan that ends above its budget: the online rule does the rest.
void require_sound(const Problem& problem, const Plan& plan) {
  for (const Violation& violation : verify(problem, plan).violations) {
    LT_REQUIRE(violation.kind == Violation::Kind::kOverBudget,
               "the plan does not fit its trace: ", violation.message);
  }
}

std::unique_ptr<Policy> policy_for(const RunRecord& record) {
  const bool is_in_catalogue =
      std::any_of(catalogue().begin(), catalogue().end(),
                  [&](const PolicyInfo& info) { return info.name == record.policy; });
  const PolicyInfo& info = policy_named(is_in_catalogue ? record.policy : kPredictingPolicy);
  if (const auto options = policy::options_within(info, record.allowed)) return info.make(*options);
  const PolicyInfo& other = policy_named(kPredictingPolicy);
  return other.make(policy::options_within(other, record.allowed).value());
}

}  // namespace

SimulatedStep simulate_step(Problem problem, Plan plan) {
  SimulatedStep step;
  step.timeline = sim::simulate_logged(problem, plan, step.log);
  step.problem = std::move(problem);
  step.plan = std::move(plan);
  return step;
}

SimulatedStep simulate_plain(const RunRecord& record) {
  Problem problem{.trace = record.trace, .machine = record.machine};
  // What it takes the host to carry a plan out is not spent.
  problem.machine.watch_seconds = problem.machine.action_seconds = 0;
  // Nothing stands in the way of the plain step, not even a device that is too small for it.
  problem.budget_bytes =
      std::max(record.machine.device_bytes,
               plan::memory_bounds(*record.trace, record.machine).plain_peak_bytes);
  Plan plan;
  plan.policy = "keep_all";
  plan.trace_digest = digest(*record.trace);
  plan.budget_bytes = problem.budget_bytes;
  return simulate_step(std::move(problem), std::move(plan));
}

std::variant<SimulatedStep, Refusal> plan_within(const RunRecord& record, const Policy& policy,
                                                 std::int64_t budget_bytes, double think_seconds) {
  Problem problem{.trace = record.trace, .machine = record.machine, .budget_bytes = budget_bytes};
  const Clock::time_point start = Clock::now();
  problem.should_stop = [start, think_seconds] { return seconds_since(start) > think_seconds; };
  PlanOutcome outcome = policy.plan(problem);
  problem.should_stop = nullptr;
  if (const Refusal* refusal = std::get_if<Refusal>(&outcome)) return *refusal;
  Plan& plan = std::get<Plan>(outcome);
  const Verdict verdict = verify(problem, plan);
  LT_CHECK(verdict.ok(), plan.policy, " made a plan for ", budget_bytes,
           " bytes that is wrong: ", verdict.violations.front().message);
  return simulate_step(std::move(problem), std::move(plan));
}

Study study(const RunRecord& record, double think_seconds) {
  LT_REQUIRE(!record.trace->ops().empty(), "there is nothing to report of a step without ops");
  Study result(record);
  result.memory = plan::memory_bounds(*record.trace, record.machine);
  result.plain = simulate_plain(record);
  if (record.plan) {
    Problem problem{.trace = record.trace,
                    .machine = record.machine,
                    .budget_bytes = record.plan->budget_bytes};
    require_sound(problem, *record.plan);
    result.planned = simulate_step(std::move(problem), *record.plan);
    return result;
  }
  if (record.budget_bytes == 0) return result;
  const Clock::time_point start = Clock::now();
  auto outcome =
      plan_within(record, *policy_for(record), record.step_budget_bytes(), think_seconds);
  result.plan_seconds = seconds_since(start);
  if (SimulatedStep* step = std::get_if<SimulatedStep>(&outcome)) {
    result.planned = std::move(*step);
    result.is_predicted = record.was_run;
  } else {
    result.refusal = std::get<Refusal>(std::move(outcome));
  }
  return result;
}

}  // namespace lowtide::report
