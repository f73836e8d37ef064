// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "lowtide/simulate.h"
#include "sim/simulation.h"
#include "sim/test_step.h"
#include "trace/lifetimes.h"

namespace lowtide::sim {
namespace {

int in_range(int low, int high) { return *rc::gen::inRange(low, high + 1); }

// A chain in which every op also reads an early value, so that most values lie idle for a while.
std::string random_trace(int ops) {
  std::string text = "storage v0 " + std::to_string(in_range(1, 9)) + " input start end\n";
  for (int i = 1; i <= ops; ++i) {
    text += "storage v" + std::to_string(i) + " " + std::to_string(in_range(1, 9)) +
            " activation codec=half:1:1:1\n";
  }
  for (int i = 1; i <= ops; ++i) {
    text += "op f forward device=" + std::to_string(in_range(0, 5)) +
            " host=" + std::to_string(in_range(0, 2)) +
            " workspace=" + std::to_string(in_range(0, 3)) + " : v" + std::to_string(i - 1);
    if (i > 1) text += " v" + std::to_string(in_range(0, i - 2));
    text += " -> v" + std::to_string(i) + "\n";
  }
  return text;
}

// For every value that lies idle between two uses: nothing, a move and a fetch, or both codec ways.
std::string random_actions(const Trace& trace) {
  const trace::Lifetimes lifetimes(trace);
  std::string actions;
  for (std::size_t i = 0; i < trace.values().size(); ++i) {
    const auto value = make_id<ValueId>(i);
    const std::string name = trace.value_name(value);
    std::vector<trace::Tick> uses{std::max(lifetimes.of(value).born, 0)};
    const auto reads = lifetimes.of(value).reads;
    uses.insert(uses.end(), reads.begin(), reads.end());
    for (std::size_t u = 0; u + 1 < uses.size(); ++u) {
      const int choice = in_range(0, 4);
      const std::string after = " after " + std::to_string(uses[u]);
      if (uses[u + 1] <= uses[u] || choice == 0) continue;
      if (choice == 1 && i > 0) {
        actions += "encode " + name + " half" + after + "\n";
        actions += "decode " + name + " before " + std::to_string(uses[u + 1]) + "\n";
      } else {
        const bool is_encoded = choice == 2 && i > 0;
        actions += "move " + name + (choice == 3 ? " disk" : " host") + after +
                   (is_encoded ? " codec half" : "") + "\n";
        actions += "fetch " + name + " issue " +
                   std::to_string(in_range(uses[u] + 1, uses[u + 1])) + " need " +
                   std::to_string(uses[u + 1]) + "\n";
      }
    }
  }
  return actions;
}

RC_GTEST_PROP(SimulationProperty, CheckedPlanKeepsItsBudgetAndItsTimeAddsUp, ()) {
  TestStep step(random_trace(in_range(2, 14)));
  step.problem.machine.launch_seconds = in_range(0, 1);
  step.problem.machine.tiers[0].latency_seconds = in_range(0, 1);
  step.problem.machine.tiers[0].duplex = in_range(0, 1) == 0 ? 1 : 0.5;
  const std::string actions = random_actions(*step.problem.trace);
  // The tightest budget that the checker accepts leaves the moves no slack.
  const Verdict verdict = verify(step.problem, step.plan(actions));
  RC_ASSERT(verdict.ok());
  step.problem.budget_bytes = verdict.peak_bytes + in_range(0, 3);
  const Plan plan = step.plan(actions);
  RC_ASSERT(verify(step.problem, plan).ok());

  const Timeline timeline = simulate(step.problem, plan);
  RC_ASSERT(timeline.peak_bytes <= step.problem.budget_bytes);
  const double sum = timeline.compute_seconds + timeline.codec_seconds +
                     timeline.recompute_seconds + timeline.total_stall_seconds();
  RC_ASSERT(std::abs(sum - timeline.seconds) < 1e-9);
  const LowerBounds bounds = lower_bounds(step.problem, plan);
  RC_ASSERT(timeline.seconds >= bounds.compute_seconds);
  RC_ASSERT(timeline.seconds >= bounds.transfer_seconds);
  RC_ASSERT(timeline.peak_bytes >= bounds.working_set_bytes);
  RC_ASSERT(timeline.ticks.back().end_seconds == timeline.seconds);
  RC_ASSERT(simulated_seconds(step.problem, plan) == timeline.seconds);
}

RC_GTEST_PROP(SimulationProperty, BudgetBeyondTheNeedChangesNothing, ()) {
  TestStep step(random_trace(in_range(2, 10)));
  const std::string actions = random_actions(*step.problem.trace);
  const double roomy = step.run(actions).seconds;
  step.problem.budget_bytes = 2000;
  RC_ASSERT(step.run(actions).seconds == roomy);
}

}  // namespace
}  // namespace lowtide::sim
