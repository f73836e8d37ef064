// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "ctdr/judge.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "lowtide/errors.h"
#include "trace/text.h"

namespace lowtide::ctdr {
namespace {

std::shared_ptr<const Trace> trace_of(const std::string& lines) {
  return std::make_shared<const Trace>(trace::parse_text("lowtide-trace 1\nname step\n" + lines));
}

// A state that nothing needs while the peak lasts, and that nobody can compute.
const char* const kIdleState = R"(
storage w 1 parameter start end
storage s 10 state start end
storage t 20 activation
op peak forward device=100 : w -> t free t
op update optimizer : w s -> w s
)";

// An activation that is cheap to compute again.
const char* const kIdleActivation = R"(
storage w 1 parameter start end
storage a 10 activation
storage t 20 activation
storage d 1 activation end
op make forward : w -> a
op peak forward device=100 : w -> t free t
op use backward : a -> d
)";

JudgeOptions options_with(Means means) {
  return {.machine = unit_machine(), .budget_bytes = 25, .means = means, .think_seconds = 5};
}

TEST(Judge, PlansUseTheMeansThatAStepHas) {
  const auto idle_state = trace_of(kIdleState), idle_activation = trace_of(kIdleActivation);
  EXPECT_TRUE(judge_trace(idle_state, options_with(Means::kMixed)).planned_seconds);
  EXPECT_TRUE(judge_trace(idle_state, options_with(Means::kHost)).planned_seconds);
  EXPECT_FALSE(judge_trace(idle_state, options_with(Means::kRecompute)).planned_seconds);
  EXPECT_TRUE(judge_trace(idle_activation, options_with(Means::kRecompute)).planned_seconds);
  JudgeOptions no_room = options_with(Means::kMixed);
  no_room.machine.tiers[0].capacity_bytes = 0;
  no_room.machine.tiers.resize(1);
  EXPECT_TRUE(judge_trace(idle_activation, no_room).planned_seconds);
  no_room.means = Means::kHost;
  EXPECT_FALSE(judge_trace(idle_activation, no_room).planned_seconds);
}

TEST(Judge, PlansAreThoseOfThePolicyThatIsNamed) {
  JudgeOptions options = options_with(Means::kMixed);
  options.policy = "keep_all";
  EXPECT_FALSE(judge_trace(trace_of(kIdleState), options).planned_seconds);
  options.policy = "nobody";
  EXPECT_THROW(static_cast<void>(judge_trace(trace_of(kIdleState), options)), InvalidInput);
}

TEST(Judge, AStepIsJudgedAsItsSessionRunsIt) {
  const JudgeOptions plain = judge_as_in({}, machine_named("h200"));
  EXPECT_EQ(plain.policy, "tide");
  EXPECT_EQ(plain.means, Means::kMixed);
  EXPECT_EQ(plain.machine.tiers.size(), 1U);
  EXPECT_EQ(judge_as_in({.policy = "online"}, machine_named("h200")).policy, "tide");
  const JudgeOptions named = judge_as_in(
      {.means = Means::kRecompute, .policy = "dtr", .spill_dir = "/tmp"}, machine_named("h200"));
  EXPECT_EQ(named.policy, "dtr");
  EXPECT_EQ(named.means, Means::kRecompute);
  EXPECT_EQ(named.machine.tiers.size(), 2U);
}

}  // namespace
}  // namespace lowtide::ctdr
