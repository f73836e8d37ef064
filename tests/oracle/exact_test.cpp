// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// tide's search against what is exact for steps too long to try everything: rotor's dynamic
// programme on chains, whose memory is counted by the byte here, and checkmate's integer programme
// on small nets.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "lowtide/policy.h"
#include "lowtide/simulate.h"
#include "plan/bounds.h"
#include "solve/milp.h"
#include "support/random_trace.h"
#include "support/sanitizer.h"
#include "trace/text.h"

namespace lowtide::oracle {
namespace {

// Of a step's time.
constexpr double kAllowed = 1.03;

// Without tiers: nothing but replays can save memory.
Problem problem_of(Trace trace) {
  Problem problem;
  problem.trace = std::make_shared<const Trace>(std::move(trace));
  problem.machine = unit_machine();
  problem.machine.tiers.clear();
  return problem;
}

std::int64_t plain_peak(const Problem& problem) {
  return plan::memory_bounds(*problem.trace, problem.machine).plain_peak_bytes;
}

// Of the step; nothing if the policy refuses.
std::optional<double> seconds_by(const Problem& problem, const std::string& policy,
                                 const PolicyOptions& options) {
  const PlanOutcome outcome = policy_named(policy).make(options)->plan(problem);
  const auto* plan = std::get_if<Plan>(&outcome);
  if (plan == nullptr) return std::nullopt;
  const Verdict verdict = verify(problem, *plan);
  EXPECT_TRUE(verdict.ok()) << policy << ": " << verdict.violations.front().message;
  return simulate(problem, *plan).seconds;
}

// By its search alone.
std::optional<double> seconds_by_tide(const Problem& problem) {
  return seconds_by(problem, "tide", {{"floor", "no"}, {"last_resort", "no"}});
}

// A chain of stages with results of `bytes` to twice as many and times of 1 to `most_seconds`. Each
// stage's backward op reads what the stage read.
std::string chain(int stages, int bytes, int most_seconds, std::uint64_t seed) {
  base::Random random(seed);
  const auto spread = [&](int least, int most) {
    return std::to_string(
        least + static_cast<int>(random.below(static_cast<std::uint64_t>(most - least) + 1)));
  };
  std::string storages = "storage a0 1 input start end\nstorage g0 1 gradient end\n";
  std::string forward;
  std::string backward;
  for (int i = 1; i <= stages; ++i) {
    const std::string here = std::to_string(i);
    const std::string before = std::to_string(i - 1);
    storages += "storage a" + here + " " + spread(bytes, 2 * bytes) + " activation\nstorage g" +
                here + " 1 activation\n";
    forward +=
        "op f forward device=" + spread(1, most_seconds) + " : a" + before + " -> a" + here + "\n";
    backward.insert(0, "op b backward device=" + spread(1, 2 * most_seconds) + " : a" + before +
                           " g" + here + " -> g" + before + "\n");
  }
  const std::string last = std::to_string(stages);
  return "lowtide-trace 1\nname chain\n" + storages + forward + "op loss backward : a" + last +
         " -> g" + last + "\n" + backward;
}

TEST(TideIsCloseTo, RotorOnChainsOf64Stages) {
  if (support::kIsSanitized) GTEST_SKIP() << "figures do not depend on the build";
  int compared = 0;
  for (const auto& [bytes, most_seconds] : std::vector<std::pair<int, int>>{{10, 1}, {6, 5}}) {
    Problem problem = problem_of(trace::parse_text(chain(64, bytes, most_seconds, 1)));
    const std::int64_t plain = plain_peak(problem);
    for (const int percent : {70, 50, 30, 20, 15, 10}) {
      problem.budget_bytes = plain * percent / 100;
      const auto exact = seconds_by(problem, "rotor", {{"slots", std::to_string(plain)}});
      if (!exact) continue;
      const auto found = seconds_by_tide(problem);
      ASSERT_TRUE(found) << percent << " %";
      std::printf("%d %%: %.4f of rotor's step\n", percent, *found / *exact);
      EXPECT_LE(*found, kAllowed * *exact) << bytes << ' ' << percent << " %";
      ++compared;
    }
  }
  EXPECT_GE(compared, 8);
}

TEST(TideIsCloseTo, CheckmateOnSmallNets) {
  if (support::kIsSanitized) GTEST_SKIP() << "figures do not depend on the build";
  if (!solve::has_milp_solver()) GTEST_SKIP() << solve::no_milp_solver();
  std::vector<Problem> problems;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    problems.push_back(problem_of(support::random_trace(seed, 14 + static_cast<int>(seed))));
  }
  problems.push_back(problem_of(trace::parse_text(chain(12, 8, 4, 2))));
  int compared = 0;
  int refused = 0;
  for (Problem& problem : problems) {
    const std::int64_t plain = plain_peak(problem);
    for (const int percent : {85, 65, 45}) {
      problem.budget_bytes = plain * percent / 100;
      const auto exact = seconds_by(problem, "checkmate", {});
      if (!exact) continue;
      const auto found = seconds_by(problem, "tide", {});
      if (!found) {
        std::printf("%s %d %%: tide refuses\n", problem.trace->name().c_str(), percent);
        ++refused;
        continue;
      }
      std::printf("%s %d %%: %.4f of checkmate's step\n", problem.trace->name().c_str(), percent,
                  *found / *exact);
      EXPECT_LE(*found, kAllowed * *exact) << problem.trace->name() << ' ' << percent;
      ++compared;
    }
  }
  EXPECT_GE(compared, 8);
  EXPECT_EQ(refused, 0);
}

}  // namespace
}  // namespace lowtide::oracle
