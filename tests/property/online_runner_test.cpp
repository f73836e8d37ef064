// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/online_runner.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "lowtide/simulate.h"
#include "plan/bounds.h"
#include "plan/text.h"
#include "support/random_trace.h"
#include "trace/text.h"

// RapidCheck prints the seed of a failure; RC_PARAMS="seed=..." runs it again.

namespace lowtide::sim {
namespace {

// DTR's score with a random factor for each value: no runner should depend on scores that make
// sense.
class AnyScore final : public OnlinePolicy {
 public:
  AnyScore(std::uint64_t seed, Neighbourhood neighbourhood, Addresses addresses)
      : seed_(seed), neighbourhood_(neighbourhood), addresses_(addresses) {}
  Neighbourhood neighbourhood() const override { return neighbourhood_; }
  Addresses addresses() const override { return addresses_; }
  double score(const Candidate& candidate) override {
    base::Random random(seed_ + static_cast<std::uint64_t>(candidate.value.index));
    return random.uniform() * (candidate.compute_seconds + candidate.neighbour_seconds) /
           (static_cast<double>(candidate.bytes + candidate.free_beside_bytes) *
            candidate.stale_seconds);
  }

 private:
  std::uint64_t seed_;
  Neighbourhood neighbourhood_;
  Addresses addresses_;
};

struct AnyRun {
  Problem problem;
  OnlineOptions options;
  std::uint64_t seed = 0;
  Neighbourhood neighbourhood = Neighbourhood::kNone;
  Addresses addresses = Addresses::kNone;

  OnlineRun run() const {
    AnyScore policy(seed, neighbourhood, addresses);
    return run_online(problem, policy, options);
  }
};

// Budgets from the hungriest op to the plain step, at which there is nothing to do.
AnyRun any_run() {
  AnyRun any;
  any.seed = *rc::gen::arbitrary<std::uint64_t>().as("seed of the trace");
  const int ops = *rc::gen::inRange(0, 41).as("ops");
  any.problem.trace = std::make_shared<const Trace>(support::random_trace(any.seed, ops));
  any.problem.machine = unit_machine();
  any.problem.machine.allocator.round_bytes = *rc::gen::inRange(1, 4).as("round_bytes");
  const plan::MemoryBounds bounds = plan::memory_bounds(*any.problem.trace, any.problem.machine);
  any.problem.budget_bytes =
      *rc::gen::inRange(bounds.working_set_bytes, bounds.plain_peak_bytes + 1).as("budget");
  any.neighbourhood =
      *rc::gen::element(Neighbourhood::kNone, Neighbourhood::kExact, Neighbourhood::kClasses);
  any.addresses = *rc::gen::element(Addresses::kNone, Addresses::kBeside, Addresses::kRows);
  any.options.places.cheap_below = *rc::gen::element(0.0, 1.0, 2.0);
  any.options.places.max_pieces = *rc::gen::element<std::int64_t>(3, 4096);
  any.options.search = *rc::gen::element(VictimSearch::kAll, VictimSearch::kSqrt,
                                         VictimSearch::kOne, VictimSearch::kIndexed);
  any.options.keep_dead = *rc::gen::arbitrary<bool>().as("keep_dead");
  any.options.ignore_below = *rc::gen::element(0.0, 0.01, 0.5);
  return any;
}

std::string faults_of(const Verdict& verdict) {
  std::string text;
  for (const Violation& violation : verdict.violations) text += violation.message + "\n";
  return text;
}

RC_GTEST_PROP(OnlineRunnerProperty, EveryPlanIsRightAndDoesWhatTheRunDid, ()) {
  for (int i = 0; i < 20; ++i) {
    const AnyRun any = any_run();
    OnlineRun result = any.run();
    RC_ASSERT(result.plan.has_value() == result.failure.empty());
    const bool fits = any.problem.budget_bytes >=
                      plan::memory_bounds(*any.problem.trace, any.problem.machine).plain_peak_bytes;
    RC_ASSERT(result.plan.has_value() || !fits);
    if (!result.plan) continue;
    result.plan->policy = "test";
    RC_ASSERT(!fits || result.plan->actions.empty());
    RC_LOG() << trace::print_text(*any.problem.trace)
             << plan::print_text(*result.plan, any.problem);
    RC_ASSERT(faults_of(verify(any.problem, *result.plan)) == "");
    const Timeline timeline = simulate(any.problem, *result.plan);
    RC_ASSERT(timeline.replays == result.replays);
    RC_ASSERT(timeline.recompute_seconds == result.replay_seconds);
  }
}

RC_GTEST_PROP(OnlineRunnerProperty, EqualProblemsGiveEqualPlans, ()) {
  const AnyRun any = any_run();
  const OnlineRun first = any.run();
  const OnlineRun second = any.run();
  RC_ASSERT(first.plan == second.plan);
  RC_ASSERT(first.failure == second.failure);
}

}  // namespace
}  // namespace lowtide::sim
