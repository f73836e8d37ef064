// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// DTR on the logs that its authors published, held against what they report (Kirisame et al.,
// "Dynamic Tensor Rematerialization", ICLR 2021): the cost rises as the budget falls, knowing the
// evicted neighbourhood is worth its price, rules that know no cost do worse, and most of the
// memory can be saved for less than twice the compute. Prints the table of slowdowns, which are
// (plain + replayed seconds) / plain seconds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
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

struct Rule {
  std::string name;
  std::string policy;
  PolicyOptions options;
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> kRules{{"classes", "dtr", {}},
                                        {"exact", "dtr", {{"score", "exact"}}},
                                        {"local", "dtr", {{"score", "local"}}},
                                        {"lru", "lru", {}},
                                        {"random", "random", {}}};
  return kRules;
}

const std::vector<int> kPercents{90, 80, 70, 60, 50, 40, 30};
const std::vector<int> kTightPercents{50, 40, 30};
constexpr double kRefused = std::numeric_limits<double>::infinity();

// By log, rule and percent of the plain peak.
using Slowdowns = std::map<std::string, std::map<std::string, std::map<int, double>>>;

double slowdown(const Problem& problem, const Rule& rule) {
  const PlanOutcome outcome = policy_named(rule.policy).make(rule.options)->plan(problem);
  const auto* plan = std::get_if<Plan>(&outcome);
  if (plan == nullptr) return kRefused;
  const Verdict verdict = verify(problem, *plan);
  EXPECT_TRUE(verdict.ok()) << rule.name << ": " << verdict.violations.front().message;
  const Timeline timeline = simulate(problem, *plan);
  return 1 + timeline.recompute_seconds / timeline.compute_seconds;
}

Slowdowns measure() {
  Slowdowns slowdowns;
  for (const TraceCase& log : trace_cases(TraceCase::Source::kDtrLog)) {
    Problem problem = load(log);
    if (!problem.trace) continue;
    const std::int64_t plain =
        plan::memory_bounds(*problem.trace, problem.machine).plain_peak_bytes;
    for (const Rule& rule : rules()) {
      for (const int percent : kPercents) {
        problem.budget_bytes = plain * percent / 100;
        slowdowns[log.name][rule.name][percent] = slowdown(problem, rule);
      }
    }
  }
  return slowdowns;
}

void print(const Slowdowns& slowdowns) {
  std::printf("%-16s %-8s", "log", "score");
  for (const int percent : kPercents) std::printf(" %6d%%", percent);
  for (const auto& [log, of_log] : slowdowns) {
    for (const Rule& rule : rules()) {
      std::printf("\n%-16s %-8s", log.c_str(), rule.name.c_str());
      for (const int percent : kPercents) {
        const double value = of_log.at(rule.name).at(percent);
        value == kRefused ? std::printf("       -") : std::printf(" %7.3f", value);
      }
    }
  }
  std::printf("\n");
}

// One rule against another at tight budgets, over all logs.
struct Duel {
  int points = 0;
  int no_worse = 0;
  int lost_feasibility = 0;
  // Of the ratios of slowdowns, where both got through.
  double geometric_mean = 1;
};

Duel duel(const Slowdowns& slowdowns, const std::string& rule, const std::string& other) {
  Duel result;
  int both = 0;
  double log_sum = 0;
  for (const auto& [log, of_log] : slowdowns) {
    for (const int percent : kTightPercents) {
      const double a = of_log.at(rule).at(percent);
      const double b = of_log.at(other).at(percent);
      ++result.points;
      if (a <= b) ++result.no_worse;
      if (a == kRefused && b != kRefused) ++result.lost_feasibility;
      if (a == kRefused || b == kRefused) continue;
      ++both;
      log_sum += std::log(a / b);
    }
  }
  if (both > 0) result.geometric_mean = std::exp(log_sum / both);
  std::printf("%-8s against %-8s no worse at %d of %d points, geometric mean %.3f\n", rule.c_str(),
              other.c_str(), result.no_worse, result.points, result.geometric_mean);
  return result;
}

// A greedy choice that was worse at the larger budget may by luck be better at the smaller one:
// 2 % are allowed for that (the largest such drop found so far is none at all).
void check_rises(const Slowdowns& slowdowns, const std::string& rule) {
  constexpr double kLuck = 0.02;
  for (const auto& [log, of_log] : slowdowns) {
    double highest = 1;
    for (const int percent : kPercents) {
      const double value = of_log.at(rule).at(percent);
      EXPECT_GE(value, highest * (1 - kLuck)) << rule << " on " << log << " at " << percent << " %";
      highest = std::max(highest, value);
    }
  }
}

// "Save 40 to 80 % memory with less than double compute" (the authors' pull request to PyTorch).
void check_saves_for_less_than_double(const Slowdowns& slowdowns, const std::string& rule) {
  for (const auto& [log, of_log] : slowdowns) {
    for (const int percent : {60, 50, 40}) {
      EXPECT_LT(of_log.at(rule).at(percent), 2) << rule << " on " << log << " at " << percent;
    }
  }
}

void check_beats(const Slowdowns& slowdowns, const std::string& rule, const std::string& other) {
  SCOPED_TRACE(rule + " against " + other);
  const Duel result = duel(slowdowns, rule, other);
  EXPECT_GE(result.no_worse, result.points * 9 / 10);
  EXPECT_EQ(result.lost_feasibility, 0);
  EXPECT_LT(result.geometric_mean, 1);
}

TEST(Published, DtrBehavesAsItsPaperReports) {
  if (support::kIsSanitized) {
    GTEST_SKIP() << "figures do not depend on the build, and the contract suite runs the same code";
  }
  const Slowdowns slowdowns = measure();
  if (slowdowns.empty()) GTEST_SKIP() << support::kNoDtrLogs;
  print(slowdowns);
  for (const char* rule : {"classes", "exact"}) {
    check_rises(slowdowns, rule);
    check_saves_for_less_than_double(slowdowns, rule);
    for (const char* other : {"local", "lru", "random"}) check_beats(slowdowns, rule, other);
  }
}

}  // namespace
}  // namespace lowtide::contract
