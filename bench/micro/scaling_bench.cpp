// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// How planning, checking and simulating grow with the length of the step, for every policy of the
// catalogue but those that spend an effort that is set beforehand. bench/run prints the ratios
// between 10^5 and 10^4 ops.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "layered_trace.h"
#include "lowtide/policy.h"
#include "lowtide/simulate.h"
#include "plan/bounds.h"

namespace {

using namespace lowtide;

// Integer programmes and a genetic search: they take what time they are given.
constexpr std::array<std::string_view, 3> kOfSetEffort{"autotm", "checkmate", "swapadvisor"};

// At half the plain peak almost every planner has work to do.
Problem half_budget(std::int64_t ops) {
  Problem problem;
  problem.trace = std::make_shared<const Trace>(bench::layered_trace(static_cast<int>(ops)));
  problem.machine = machine_named("h200");
  problem.machine.tiers[0].capacity_bytes = std::int64_t{1} << 50U;
  problem.budget_bytes = plan::memory_bounds(*problem.trace, problem.machine).plain_peak_bytes / 2;
  return problem;
}

Plan plan_with(const Policy& policy, const Problem& problem) {
  PlanOutcome outcome = policy.plan(problem);
  LT_CHECK(std::holds_alternative<Plan>(outcome), "refused ", problem.budget_bytes, " bytes");
  return std::get<Plan>(std::move(outcome));
}

// At half the plain peak, or at the smallest budget that the policy says it can do.
void plan_step(benchmark::State& state, const std::string& name, const PolicyOptions& options) {
  Problem problem = half_budget(state.range(0));
  const std::unique_ptr<Policy> policy = policy_named(name).make(options);
  const PlanOutcome outcome = policy->plan(problem);
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
    problem.budget_bytes = refusal->smallest_budget_bytes;
  }
  Plan plan;
  for (auto _ : state) benchmark::DoNotOptimize(plan = plan_with(*policy, problem));
  const Verdict verdict = verify(problem, plan);
  LT_CHECK(verdict.ok(), "what was timed is wrong: ", verdict.violations.front().message);
  state.counters["actions"] = static_cast<double>(plan.actions.size());
}

void plan_by_default(benchmark::State& state, const std::string& name) {
  plan_step(state, name, {});
}

// As little as tide searches at all, and nobody else beside it.
void plan_first(benchmark::State& state, const std::string&) {
  plan_step(state, "tide", {{"tries", "0"}, {"floor", "no"}});
}

void check_plan(benchmark::State& state, const std::string& name) {
  const Problem problem = half_budget(state.range(0));
  const Plan plan = plan_with(*policy_named(name).make({}), problem);
  for (auto _ : state) benchmark::DoNotOptimize(verify(problem, plan));
}

void simulate_plan(benchmark::State& state, const std::string& name) {
  const Problem problem = half_budget(state.range(0));
  const Plan plan = plan_with(*policy_named(name).make({}), problem);
  for (auto _ : state) benchmark::DoNotOptimize(simulate(problem, plan));
}

using Measure = void (*)(benchmark::State& state, const std::string& name);

void measure(const std::string& what, const std::string& name, Measure how) {
  benchmark::RegisterBenchmark((what + "/" + name).c_str(),
                               [=](benchmark::State& state) { how(state, name); })
      ->Arg(10000)
      ->Arg(100000)
      ->Unit(benchmark::kMillisecond);
}

void measure_all() {
  for (const PolicyInfo& row : catalogue()) {
    const bool is_of_set_effort =
        std::find(kOfSetEffort.begin(), kOfSetEffort.end(), row.name) != kOfSetEffort.end();
    if (!is_of_set_effort) measure("plan_step", row.name, plan_by_default);
  }
  measure("plan_step", "tide_first", plan_first);
  for (const char* policy : {"dtr", "capuchin"}) {
    measure("check_plan", policy, check_plan);
    measure("simulate_plan", policy, simulate_plan);
  }
}

}  // namespace

int main(int argument_count, char** arguments) {
  measure_all();
  benchmark::Initialize(&argument_count, arguments);
  if (benchmark::ReportUnrecognizedArguments(argument_count, arguments)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
