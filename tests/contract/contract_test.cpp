// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// What every policy promises for every step and budget: a plan that verify() accepts, the same each
// time, or a refusal with a budget at which it does make one. A policy comes in by its row in the
// catalogue.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "budgets.h"
#include "lowtide/policy.h"
#include "lowtide/simulate.h"
#include "plan/bounds.h"
#include "plan/json.h"
#include "plan/text.h"
#include "support/dtr_logs.h"
#include "support/policy_cases.h"
#include "traces.h"

namespace lowtide::contract {
namespace {

using support::PolicyCase;
using Source = TraceCase::Source;

constexpr double kSlowSeconds = 0.7;

struct Case {
  PolicyCase policy;
  TraceCase trace;
};

void PrintTo(const Case& which, std::ostream* out) {
  *out << which.policy.name << " on " << which.trace.name;
}

std::vector<Case> cases_on(Source source) {
  std::vector<Case> cases;
  for (const PolicyCase& policy : support::policy_cases()) {
    for (const TraceCase& trace : trace_cases(source)) cases.push_back({policy, trace});
  }
  return cases;
}

std::string violations(const Verdict& verdict) {
  std::string text;
  for (const Violation& violation : verdict.violations) text += violation.message + "\n";
  return text;
}

Need need_of_tier(TierId tier) { return tier.index == 0 ? Need::kHostMemory : Need::kDisk; }

// What carrying out a plan takes.
std::set<Need> needs_of(const Plan& plan) {
  std::set<Need> needs;
  for (const StartsIn& start : plan.starts) needs.insert(need_of_tier(start.tier));
  for (const Action& action : plan.actions) {
    if (std::holds_alternative<Run>(action)) needs.insert(Need::kReplays);
    if (std::holds_alternative<Encode>(action)) needs.insert(Need::kCodecs);
    if (std::holds_alternative<Choose>(action)) needs.insert(Need::kImplementations);
    if (std::holds_alternative<Place>(action)) needs.insert(Need::kPlacement);
    if (std::holds_alternative<Order>(action)) needs.insert(Need::kOrder);
    const Move* move = std::get_if<Move>(&action);
    if (move == nullptr) continue;
    needs.insert(need_of_tier(move->tier));
    if (!move->codec.empty()) needs.insert(Need::kCodecs);
  }
  return needs;
}

// With the quickest implementation of each op; what runs on the host takes no time of the device.
double least_seconds(const Trace& trace) {
  double seconds = 0;
  for (const Op& op : trace.ops()) {
    double least = op.device_seconds.value_or(0);
    for (const Implementation& option : op.options) {
      least = option.on_host ? 0 : std::min(least, option.seconds);
    }
    seconds += least;
  }
  return seconds;
}

class Contract : public testing::TestWithParam<Case> {
 protected:
  PlanOutcome outcome(const Problem& problem) const {
    return GetParam().policy.make()->plan(problem);
  }

  static void check_plan(const Problem& problem, const Plan& plan, const std::string& policy) {
    EXPECT_EQ(plan.policy, policy);
    EXPECT_EQ(plan.trace_digest, digest(*problem.trace));
    EXPECT_EQ(plan.budget_bytes, problem.budget_bytes);
    const Verdict verdict = verify(problem, plan);
    ASSERT_EQ(violations(verdict), "");
    EXPECT_LE(verdict.peak_bytes, problem.budget_bytes);
    check_needs(plan);
    EXPECT_EQ(plan::parse_text(plan::print_text(plan, problem), problem), plan);
    EXPECT_EQ(plan::parse_json(plan::print_json(plan, problem), problem), plan);

    const Timeline timeline = simulate(problem, plan);
    EXPECT_LE(timeline.peak_bytes, problem.budget_bytes);
    EXPECT_GE(timeline.seconds, timeline.compute_seconds + timeline.recompute_seconds);
    EXPECT_GE(timeline.seconds, least_seconds(*problem.trace) * (1 - 1e-9));
  }

  // Its row in the catalogue says what its plans need.
  static void check_needs(const Plan& plan) {
    std::set<Need> listed;
    for (const PolicyNeed& need : policy_named(plan.policy).needs) listed.insert(need.need);
    for (const Need need : needs_of(plan)) {
      EXPECT_TRUE(listed.contains(need)) << plan.policy << " needs " << to_string(need);
    }
  }

  // Such a policy answers with the size of its arena, which has holes.
  bool only_places() const { return policy_named(GetParam().policy.policy).mechanisms == "place"; }

  void check_refusal(const Problem& problem, const Refusal& refusal) const {
    EXPECT_NE(refusal.reason, "");
    ASSERT_GT(refusal.smallest_budget_bytes, problem.budget_bytes);
    Problem larger = problem;
    larger.budget_bytes = refusal.smallest_budget_bytes;
    SCOPED_TRACE("at the budget it asked for, " + std::to_string(larger.budget_bytes));
    const PlanOutcome granted = outcome(larger);
    ASSERT_TRUE(std::holds_alternative<Plan>(granted)) << std::get<Refusal>(granted).reason;
    check_plan(larger, std::get<Plan>(granted), GetParam().policy.policy);
  }
};

TEST_P(Contract, Holds) {
  const std::clock_t begin = std::clock();
  Problem problem = load(GetParam().trace);
  if (!problem.trace) GTEST_SKIP() << support::kNoDtrLogs;
  const std::int64_t plain = plan::memory_bounds(*problem.trace, problem.machine).plain_peak_bytes;
  for (const int percent : budgets_for(GetParam().policy, GetParam().trace)) {
    problem.budget_bytes = plain * percent / 100;
    SCOPED_TRACE(std::to_string(percent) + " %, " + std::to_string(problem.budget_bytes));
    const PlanOutcome first = outcome(problem);
    if (const auto* refusal = std::get_if<Refusal>(&first)) {
      EXPECT_TRUE(percent < 100 || only_places()) << refusal->reason;
      check_refusal(problem, *refusal);
      continue;
    }
    check_plan(problem, std::get<Plan>(first), GetParam().policy.policy);
    EXPECT_EQ(std::get<Plan>(outcome(problem)), std::get<Plan>(first)) << "planned twice";
  }
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  if (seconds > kSlowSeconds) {
    std::printf("slow: %s on %s takes %.1f s of processor time\n", GetParam().policy.name.c_str(),
                GetParam().trace.name.c_str(), seconds);
  }
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return info.param.policy.name + "_on_" + info.param.trace.name;
}

INSTANTIATE_TEST_SUITE_P(Small, Contract, testing::ValuesIn(cases_on(Source::kSmall)), case_name);
INSTANTIATE_TEST_SUITE_P(Random, Contract, testing::ValuesIn(cases_on(Source::kRandom)), case_name);
INSTANTIATE_TEST_SUITE_P(Recorded, Contract, testing::ValuesIn(cases_on(Source::kRecorded)),
                         case_name);
INSTANTIATE_TEST_SUITE_P(DtrLogs, Contract, testing::ValuesIn(cases_on(Source::kDtrLog)),
                         case_name);

}  // namespace
}  // namespace lowtide::contract
