// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/step.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "cli/exit_code.h"
#include "cli/policy_options.h"
#include "cli/stop_signal.h"

namespace lowtide::cli {
namespace {

Plan empty_plan(const Trace& trace, std::int64_t budget_bytes) {
  Plan plan;
  plan.policy = "keep_all";
  plan.trace_digest = digest(trace);
  plan.budget_bytes = budget_bytes;
  return plan;
}

// Nothing stands in the way of the plain step, not even a device that is too small for it.
std::int64_t plain_budget(const Machine& machine, const plan::MemoryBounds& memory) {
  return std::max(machine.device_bytes, memory.plain_peak_bytes);
}

PlannedStep simulate_plan(Problem problem, Plan plan) {
  PlannedStep result;
  result.timeline = simulate(problem, plan);
  result.bounds = lower_bounds(problem, plan);
  result.problem = std::move(problem);
  result.plan = std::move(plan);
  return result;
}

}  // namespace

PlainStep::PlainStep(std::shared_ptr<const Trace> step_trace, Machine step_machine)
    : trace(std::move(step_trace)),
      machine(std::move(step_machine)),
      memory(plan::memory_bounds(*trace, machine)) {
  const std::int64_t budget_bytes = plain_budget(machine, memory);
  timeline = simulate(problem(budget_bytes), empty_plan(*trace, budget_bytes));
}

Problem PlainStep::problem(std::int64_t budget_bytes) const {
  return Problem{.trace = trace, .machine = machine, .budget_bytes = budget_bytes};
}

const PolicyInfo& find_policy(const std::string& name) {
  try {
    return policy_named(name);
  } catch (const InvalidInput& error) {
    throw UsageError(error.what());
  }
}

Planner make_planner(const std::string& name, const std::vector<std::string>& options) {
  const PolicyInfo& info = find_policy(name);
  const PolicyOptions parsed = parse_options(options);
  try {
    return Planner{.info = &info, .policy = info.make(parsed)};
  } catch (const InvalidInput& error) {
    throw UsageError(base::concat("--option: ", error.what(), "; 'lowtide policies ", name,
                                  "' lists what it takes"));
  }
}

std::variant<PlannedStep, RefusedStep> plan_step(const PlainStep& step, const Planner& planner,
                                                 std::int64_t budget_bytes,
                                                 const std::function<void(double)>& progress) {
  using Clock = std::chrono::steady_clock;
  Problem problem = step.problem(budget_bytes);
  const Clock::time_point start = Clock::now();
  const auto taken_seconds = [&] {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  bool was_stopped = false;
  problem.should_stop = [&] {
    const double seconds = taken_seconds();
    if (progress) progress(seconds);
    was_stopped = was_stopped || StopSignal::came() ||
                  (planner.think_seconds > 0 && seconds > planner.think_seconds);
    return was_stopped;
  };
  PlanOutcome outcome = planner.policy->plan(problem);
  const double plan_seconds = taken_seconds();
  problem.should_stop = nullptr;
  if (Refusal* refusal = std::get_if<Refusal>(&outcome)) {
    return RefusedStep{std::move(*refusal), plan_seconds, was_stopped};
  }
  Plan& plan = std::get<Plan>(outcome);
  const Verdict verdict = verify(problem, plan);
  LT_CHECK(verdict.ok(), "policy ", planner.info->name, " made a plan for ", step.trace->name(),
           " and ", budget_bytes, " bytes that is wrong: ", verdict.violations.front().message);
  PlannedStep result = simulate_plan(std::move(problem), std::move(plan));
  result.plan_seconds = plan_seconds;
  result.was_stopped = was_stopped;
  return result;
}

PlannedStep follow_plan(const PlainStep& step, Plan plan, const std::string& plan_file) {
  Problem problem = step.problem(plan.budget_bytes);
  const Verdict verdict = verify(problem, plan);
  LT_REQUIRE(verdict.ok(), plan_file, ": the plan is wrong: ", verdict.violations.front().message,
             "; 'lowtide check TRACE PLAN' shows all that is wrong with it");
  return simulate_plan(std::move(problem), std::move(plan));
}

PlannedStep follow_nothing(const PlainStep& step) {
  const std::int64_t budget_bytes = plain_budget(step.machine, step.memory);
  return simulate_plan(step.problem(budget_bytes), empty_plan(*step.trace, budget_bytes));
}

std::string refusal_message(const PlainStep& step, const std::string& policy,
                            std::int64_t budget_bytes, const RefusedStep& refused) {
  const plan::MemoryBounds& memory = step.memory;
  const Refusal& refusal = refused.refusal;
  const std::string hungriest =
      memory.working_set_op.valid() ? step.trace->op_name(memory.working_set_op) : "no op";
  return base::concat("no plan of ", policy, " fits ", base::format_bytes(budget_bytes), ": ",
                      refusal.reason, "; the smallest budget for ", policy, " is ",
                      base::format_bytes(refusal.smallest_budget_bytes), " (--budget ",
                      refusal.smallest_budget_bytes, "), and ", hungriest, " alone needs ",
                      base::format_bytes(memory.working_set_bytes),
                      refused.was_stopped ? "; its search was stopped early" : "");
}

}  // namespace lowtide::cli
