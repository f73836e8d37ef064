// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "session/background_planner.h"

#include <chrono>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "lowtide/simulate.h"
#include "plan/spread.h"
#include "session/hurry.h"

namespace lowtide::session {
namespace {

// How far above the budget a plan may end and still be worth having.
constexpr double kCloseEnough = 1.25;

PlanOutcome plan_near(Problem& problem, const Policy& policy) {
  PlanOutcome outcome = policy.plan(problem);
  const Refusal* refusal = std::get_if<Refusal>(&outcome);
  if (refusal == nullptr) return outcome;
  const auto reachable = static_cast<double>(refusal->smallest_budget_bytes);
  if (reachable > kCloseEnough * static_cast<double>(problem.budget_bytes)) return outcome;
  problem.budget_bytes = refusal->smallest_budget_bytes;
  return policy.plan(problem);
}

// Simulates the plan and notes what it comes to.
void adopt(PlanResult& result, const engine::CapturedStep& step, Plan plan) {
  const Timeline timeline = simulate(result.problem, plan);
  result.predicted_seconds = timeline.seconds;
  result.predicted_peak_bytes = timeline.peak_bytes;
  if (!timeline.tier_peak_bytes.empty()) {
    result.predicted_host_bytes = timeline.tier_peak_bytes.front();
  }
  result.guided = std::make_shared<engine::GuidedStep>(step, std::move(plan), timeline.departures);
}

// `asked` is what the policy is given: the request's problem, or the same with one tier.
PlanResult plan_with(const PlanRequest& request, const Policy& policy, Problem asked) {
  PlanResult result;
  PlanOutcome outcome = plan_near(asked, policy);
  result.problem = request.problem;
  result.problem.budget_bytes = asked.budget_bytes;
  if (const Refusal* refusal = std::get_if<Refusal>(&outcome)) {
    result.reason =
        base::concat(refusal->reason, "; the smallest budget that the policy reaches is ",
                     base::format_bytes(refusal->smallest_budget_bytes));
  } else {
    Plan plan = plan::spread_over_tiers(result.problem, std::get<Plan>(std::move(outcome)));
    const Verdict verdict = verify(result.problem, plan);
    LT_CHECK(verdict.ok(), plan.policy,
             " made a plan that does not hold: ", verdict.violations.front().message);
    adopt(result, request.step, std::move(plan));
  }
  return result;
}

// One that ends above the budget leaves work to the online rule, which costs more than it seems.
bool is_better(const PlanResult& a, const PlanResult& b, std::int64_t budget_bytes) {
  if (!a.guided || !b.guided) return a.guided != nullptr;
  const bool a_fits = a.predicted_peak_bytes <= budget_bytes;
  const bool b_fits = b.predicted_peak_bytes <= budget_bytes;
  if (a_fits != b_fits) return a_fits;
  return a.predicted_seconds < b.predicted_seconds;
}

}  // namespace

PlanResult plan_step(const PlanRequest& request,
                     const std::vector<std::unique_ptr<Policy>>& policies) {
  const auto start = std::chrono::steady_clock::now();
  PlanResult result;
  bool is_first = true;
  const auto consider = [&](PlanResult next) {
    if (is_first || is_better(next, result, request.problem.budget_bytes)) result = std::move(next);
    is_first = false;
  };
  for (const std::unique_ptr<Policy>& policy : policies) {
    consider(plan_with(request, *policy, request.problem));
    if (request.problem.machine.tiers.size() > 1) {
      consider(plan_with(request, *policy, plan::with_one_tier(request.problem)));
    }
  }
  result.shape = request.step.script.shape();
  result.outside_bytes = request.outside_bytes;
  if (request.reserve_host) request.reserve_host(result.predicted_host_bytes);
  result.plan_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

PlanResult hurry_plan(const PlanResult& planned, const std::vector<engine::Stall>& stalls) {
  HurriedPlan hurried = hurry(planned.problem, planned.guided->plan(), stalls);
  PlanResult result = planned;
  if (hurried.fetches == 0) return result;
  result.fetches_hurried += hurried.fetches;
  adopt(result, planned.guided->captured(), std::move(hurried.plan));
  return result;
}

BackgroundPlanner::~BackgroundPlanner() {
  if (worker_.joinable()) worker_.join();
}

void BackgroundPlanner::submit(std::uint64_t shape, std::function<PlanResult()> plan) {
  LT_CHECK(!is_busy(), "one plan at a time");
  worker_ = std::thread([this, shape, plan = std::move(plan)] {
    PlanResult result;
    try {
      result = plan();
    } catch (const std::exception& error) {
      // A step that cannot be planned is run by the online rule.
      result.shape = shape;
      result.reason = error.what();
    }
    const std::lock_guard lock(mutex_);
    result_ = std::move(result);
  });
}

std::optional<PlanResult> BackgroundPlanner::poll() {
  {
    const std::lock_guard lock(mutex_);
    if (!result_) return std::nullopt;
  }
  return wait();
}

PlanResult BackgroundPlanner::wait() {
  worker_.join();
  worker_ = std::thread();
  PlanResult result = *std::move(result_);
  result_.reset();
  return result;
}

}  // namespace lowtide::session
