// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// What tide promises beyond the contract: it is never slower than another executable policy and has
// a plan wherever one of them has, its search alone is not far behind either, and it replays no
// more on DTR's logs than a prototype of its search did. bench/tide prints all of it; these are the
// cells that take little time. With LT_ALL_BUDGETS set, every budget of the promise is tried.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lowtide/policy.h"
#include "lowtide/simulate.h"
#include "plan/bounds.h"
#include "support/dtr_logs.h"
#include "support/policy_cases.h"
#include "support/sanitizer.h"
#include "traces.h"

namespace lowtide::contract {
namespace {

using Source = TraceCase::Source;
using support::PolicyCase;

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

// By the name of the policy; those that refuse are left out.
std::map<std::string, double> seconds_of_others(const Problem& problem) {
  std::map<std::string, double> seconds;
  for (const PolicyInfo& row : catalogue()) {
    if (!row.executable || row.name == "tide") continue;
    const double taken = seconds_of(problem, row.name, {});
    if (taken != kRefused) seconds[row.name] = taken;
  }
  return seconds;
}

double best_of(const std::map<std::string, double>& seconds) {
  double best = kRefused;
  for (const auto& [name, taken] : seconds) best = std::min(best, taken);
  return best;
}

std::vector<TraceCase> long_traces() {
  std::vector<TraceCase> cases = trace_cases(Source::kRecorded);
  for (const TraceCase& log : trace_cases(Source::kDtrLog)) cases.push_back(log);
  return cases;
}

// Two of the eight budgets for each trace, in turn, so that all of them occur.
std::vector<int> budgets_in_turn(const TraceCase& which) {
  const std::vector<int> all{90, 80, 70, 60, 50, 40, 30, 20};
  if (std::getenv("LT_ALL_BUDGETS") != nullptr) return all;
  const std::vector<TraceCase> cases = long_traces();
  std::size_t turn = 0;
  while (cases[turn].source != which.source || cases[turn].name != which.name) ++turn;
  return {all[turn % 4], all[4 + turn % 4]};
}

// Who is asked with floor=all only.
bool is_slow(const std::string& policy) { return policy == "checkmate"; }

class TideContract : public testing::TestWithParam<TraceCase> {
 protected:
  void SetUp() override {
    if (support::kIsSanitized) GTEST_SKIP() << "the contract suite runs the same code";
  }
};

TEST_P(TideContract, IsNeverSlowerThanAnExecutablePolicy) {
  for (const int percent : budgets_in_turn(GetParam())) {
    const Problem problem = problem_at(GetParam(), percent);
    if (!problem.trace) GTEST_SKIP() << support::kNoDtrLogs;
    const std::map<std::string, double> others = seconds_of_others(problem);
    for (const std::string floor : {"yes", "all"}) {
      const double seconds = seconds_of(problem, "tide", {{"tries", "8"}, {"floor", floor}});
      for (const auto& [name, taken] : others) {
        if (floor == "yes" && is_slow(name)) continue;
        EXPECT_LE(seconds, taken) << name << " at " << percent << " %, floor=" << floor;
      }
    }
  }
}

std::string trace_name(const testing::TestParamInfo<TraceCase>& info) {
  return info.param.name + (info.param.source == Source::kDtrLog ? "_log" : "");
}

INSTANTIATE_TEST_SUITE_P(Long, TideContract, testing::ValuesIn(long_traces()), trace_name);

// What tide may do, and the policies that do no more.
struct Leave {
  PolicyOptions options;
  std::string not_mechanism;
};

bool has_a_plan(const Problem& problem, const PolicyCase& policy, const PolicyOptions& options) {
  PolicyCase with_options = policy;
  with_options.options.insert(options.begin(), options.end());
  const PlanOutcome outcome = with_options.make()->plan(problem);
  return std::holds_alternative<Plan>(outcome);
}

class TideContractFeasible : public testing::TestWithParam<TraceCase> {};

TEST_P(TideContractFeasible, WhereverAnExecutablePolicyIs) {
  Problem problem = load(GetParam());
  const plan::MemoryBounds bounds = plan::memory_bounds(*problem.trace, problem.machine);
  const std::vector<Leave> leaves{
      {{}, "place"}, {{{"swap", "no"}}, "swap"}, {{{"recompute", "no"}}, "recompute"}};
  const PolicyCase tide{"tide", "tide", {{"tries", "1"}}};
  for (int fifth = 0; fifth < 5; ++fifth) {
    problem.budget_bytes =
        bounds.working_set_bytes + (bounds.plain_peak_bytes - bounds.working_set_bytes) * fifth / 5;
    for (const Leave& leave : leaves) {
      for (const PolicyCase& policy : support::policy_cases()) {
        const PolicyInfo& row = policy_named(policy.policy);
        if (!row.executable || row.name == "tide" || policy.name != policy.policy) continue;
        if (is_slow(row.name)) continue;
        if (row.mechanisms.find(leave.not_mechanism) != std::string::npos) continue;
        if (!has_a_plan(problem, policy, {})) continue;
        for (const char* floor : {"yes", "no"}) {
          PolicyOptions options = leave.options;
          options["floor"] = floor;
          EXPECT_TRUE(has_a_plan(problem, tide, options))
              << policy.name << " has a plan for " << problem.budget_bytes
              << " bytes; floor=" << floor << ", without " << leave.not_mechanism;
        }
        break;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Small, TideContractFeasible,
                         testing::ValuesIn(trace_cases(Source::kSmall)), trace_name);
INSTANTIATE_TEST_SUITE_P(Random, TideContractFeasible,
                         testing::ValuesIn(trace_cases(Source::kRandom)), trace_name);

// Its step times over those of others, over all cells in which both have a plan.
class Ratios {
 public:
  void add(const std::string& other, double ratio) {
    logs_[other] += std::log(ratio);
    ++cells_[other];
  }
  void expect_ahead_of_all() const {
    for (const auto& [other, sum] : logs_) {
      const double mean = std::exp(sum / cells_.at(other));
      std::printf("%-14s %2d cells, geometric mean %.3f\n", other.c_str(), cells_.at(other), mean);
      EXPECT_LT(mean, 1) << other;
    }
  }

 private:
  std::map<std::string, double> logs_;
  std::map<std::string, int> cells_;
};

TEST(TideContractAlone, IsNotFarBehindAnyAndAheadOfEachOnTheWhole) {
  if (support::kIsSanitized) GTEST_SKIP() << "figures do not depend on the build";
  const std::vector<TraceCase> cases{{Source::kRecorded, "gpt"},
                                     {Source::kRecorded, "resnet50"},
                                     {Source::kRecorded, "vgg16"},
                                     {Source::kDtrLog, "unet"},
                                     {Source::kDtrLog, "resnet32"}};
  Ratios ratios;
  for (const TraceCase& which : cases) {
    for (const int percent : {70, 30}) {
      const Problem problem = problem_at(which, percent);
      if (!problem.trace) continue;
      const std::map<std::string, double> others = seconds_of_others(problem);
      if (others.empty()) continue;
      const double best = best_of(others);
      const double seconds = seconds_of(problem, "tide", {{"floor", "no"}, {"last_resort", "no"}});
      std::printf("%s at %d %%: %.3f of the best other\n", which.name.c_str(), percent,
                  seconds / best);
      EXPECT_LE(seconds, kAllowedAlone * best) << which.name << percent;
      ratios.add("the best", seconds / best);
      for (const auto& [name, taken] : others) ratios.add(name, seconds / taken);
    }
  }
  ratios.expect_ahead_of_all();
}

struct Cell {
  std::string log;
  int percent;
  double most_replayed_percent;
};

TEST(TideContractAlone, ReplaysNoMoreThanThePrototypeOnDtrsLogs) {
  if (support::kIsSanitized) GTEST_SKIP() << "figures do not depend on the build";
  const std::vector<Cell> cells{{"unet", 50, 9.6},           {"unet", 30, 31},
                                {"resnet32", 40, 12.95},     {"resnet32", 20, 22.3},
                                {"transformer", 20, 12.7},   {"inceptionv4", 30, 14.2},
                                {"tv_densenet121", 30, 19.1}};
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
