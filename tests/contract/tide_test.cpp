// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// What tide promises beyond the contract: it is never slower than another executable policy, its
// search alone is not far behind either, and it replays no more on DTR's logs than a prototype of
// its search did. bench/tide prints all of it; these are the cells that take little time.
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lowtide/policy.h"
#include "lowtide/simulate.h"
#include "plan/bounds.h"
#include "support/dtr_logs.h"
#include "support/sanitizer.h"
#include "traces.h"

namespace lowtide::contract {
namespace {

using Source = TraceCase::Source;

constexpr double kRefused = std::numeric_limits<double>::infinity();
// Of a step's time.
constexpr double kAllowedAlone = 1.03;

Problem problem_at(const TraceCase& which, int percent) {
  Problem problem = load(which);
  if (!problem.trace) return problem;
  problem.budget_bytes =
      plan::memory_bounds(*problem.trace, problem.machine).plain_peak_bytes * percent / 100;
  return problem;
}

double seconds_of(const Problem& problem, const std::string& policy, const PolicyOptions& options) {
  const PlanOutcome outcome = policy_named(policy).make(options)->plan(problem);
  const auto* plan = std::get_if<Plan>(&outcome);
  return plan == nullptr ? kRefused : simulate(problem, *plan).seconds;
}

double best_of_others(const Problem& problem) {
  double best = kRefused;
  for (const PolicyInfo& row : catalogue()) {
    if (!row.executable || row.name == "tide") continue;
    best = std::min(best, seconds_of(problem, row.name, {}));
  }
  return best;
}

TEST(TideContract, IsNeverSlowerThanAnExecutablePolicy) {
  if (support::kIsSanitized) GTEST_SKIP() << "the contract suite runs the same code";
  for (const Source source : {Source::kRecorded, Source::kDtrLog}) {
    for (const TraceCase& which : trace_cases(source)) {
      for (const int percent : {80, 40}) {
        const Problem problem = problem_at(which, percent);
        if (!problem.trace) continue;
        const double seconds = seconds_of(problem, "tide", {{"tries", "8"}, {"floor", "all"}});
        EXPECT_LE(seconds, best_of_others(problem)) << which.name << ' ' << percent << " %";
      }
    }
  }
}

TEST(TideContract, ItsSearchAloneIsNotFarBehind) {
  if (support::kIsSanitized) GTEST_SKIP() << "figures do not depend on the build";
  const std::vector<TraceCase> cases{{Source::kRecorded, "gpt"},
                                     {Source::kRecorded, "resnet50"},
                                     {Source::kRecorded, "vgg16"},
                                     {Source::kDtrLog, "unet"},
                                     {Source::kDtrLog, "resnet32"}};
  for (const TraceCase& which : cases) {
    for (const int percent : {70, 30}) {
      const Problem problem = problem_at(which, percent);
      if (!problem.trace) continue;
      const double others = best_of_others(problem);
      if (others == kRefused) continue;
      const double seconds = seconds_of(problem, "tide", {{"floor", "no"}});
      std::printf("%s at %d %%: %.3f of the best other\n", which.name.c_str(), percent,
                  seconds / others);
      EXPECT_LE(seconds, kAllowedAlone * others) << which.name << percent;
    }
  }
}

struct Cell {
  std::string log;
  int percent;
  double most_replayed_percent;
};

TEST(TideContract, ReplaysNoMoreThanThePrototypeOnDtrsLogs) {
  if (support::kIsSanitized) GTEST_SKIP() << "figures do not depend on the build";
  const std::vector<Cell> cells{{"unet", 50, 9.6},         {"unet", 30, 31},
                                {"resnet32", 40, 12.95},   {"resnet32", 20, 22.3},
                                {"transformer", 20, 12.7}, {"inceptionv4", 30, 14.2}};
  for (const Cell& cell : cells) {
    const Problem problem = problem_at({Source::kDtrLog, cell.log}, cell.percent);
    if (!problem.trace) GTEST_SKIP() << support::kNoDtrLogs;
    const PlanOutcome outcome = policy_named("tide").make({{"swap", "no"}})->plan(problem);
    ASSERT_TRUE(std::holds_alternative<Plan>(outcome)) << cell.log << ' ' << cell.percent;
    const Timeline timeline = simulate(problem, std::get<Plan>(outcome));
    const double percent = 100 * timeline.recompute_seconds / timeline.compute_seconds;
    std::printf("%s at %d %%: %.2f %% replayed\n", cell.log.c_str(), cell.percent, percent);
    EXPECT_LE(percent, cell.most_replayed_percent) << cell.log << ' ' << cell.percent;
  }
}

}  // namespace
}  // namespace lowtide::contract
