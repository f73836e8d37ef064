// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// How planning, checking and simulating grow with the length of the step. bench/run prints the
// ratios between 10^5 and 10^4 ops.
#include <memory>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "layered_trace.h"
#include "lowtide/policy.h"
#include "lowtide/simulate.h"
#include "plan/bounds.h"

namespace {

using namespace lowtide;

// Half the plain peak: every planner has work to do.
Problem half_budget(int ops) {
  Problem problem;
  problem.trace = std::make_shared<const Trace>(bench::layered_trace(ops));
  problem.machine = machine_named("h200");
  problem.machine.tiers[0].capacity_bytes = std::int64_t{1} << 50U;
  problem.budget_bytes = plan::memory_bounds(*problem.trace, problem.machine).plain_peak_bytes / 2;
  return problem;
}

Plan plan_with(const char* policy, const Problem& problem, const PolicyOptions& options = {}) {
  const PlanOutcome outcome = policy_named(policy).make(options)->plan(problem);
  LT_CHECK(std::holds_alternative<Plan>(outcome), policy, " refused half the plain peak");
  return std::get<Plan>(outcome);
}

void plan_step(benchmark::State& state, const char* policy, const PolicyOptions& options) {
  const Problem problem = half_budget(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(plan_with(policy, problem, options));
  const Verdict verdict = verify(problem, plan_with(policy, problem, options));
  LT_CHECK(verdict.ok(), "what was timed is wrong: ", verdict.violations.front().message);
}

void check_plan(benchmark::State& state, const char* policy) {
  const Problem problem = half_budget(static_cast<int>(state.range(0)));
  const Plan plan = plan_with(policy, problem);
  for (auto _ : state) benchmark::DoNotOptimize(verify(problem, plan));
}

void simulate_plan(benchmark::State& state, const char* policy) {
  const Problem problem = half_budget(static_cast<int>(state.range(0)));
  const Plan plan = plan_with(policy, problem);
  for (auto _ : state) benchmark::DoNotOptimize(simulate(problem, plan));
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(plan_step, capuchin, "capuchin", {})->Apply(sizes);
BENCHMARK_CAPTURE(plan_step, tide, "tide", {})->Apply(sizes);
// As little as it searches at all, and nobody else beside it.
BENCHMARK_CAPTURE(plan_step, tide_first, "tide", PolicyOptions{{"tries", "0"}, {"floor", "no"}})
    ->Apply(sizes);
BENCHMARK_CAPTURE(plan_step, sublinear, "sublinear", {})->Apply(sizes);
BENCHMARK_CAPTURE(plan_step, dtr, "dtr", {})->Apply(sizes);
BENCHMARK_CAPTURE(check_plan, dtr, "dtr")->Apply(sizes);
BENCHMARK_CAPTURE(check_plan, capuchin, "capuchin")->Apply(sizes);
BENCHMARK_CAPTURE(simulate_plan, dtr, "dtr")->Apply(sizes);
BENCHMARK_CAPTURE(simulate_plan, capuchin, "capuchin")->Apply(sizes);

}  // namespace
