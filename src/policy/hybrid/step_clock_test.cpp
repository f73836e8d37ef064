// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/step_clock.h"

#include <gtest/gtest.h>

#include "sim/test_step.h"

namespace lowtide::policy {
namespace {

using sim::TestStep;

constexpr std::string_view kThreeOps = R"(
storage w 1 parameter start end
op f forward device=2 : w ->
op g forward device=5 host=1 : w ->
op h forward device=1 host=9 : w ->
)";

TEST(StepClock, AnOpWaitsForTheOneBeforeItAndForTheHost) {
  const StepClock clock(TestStep(kThreeOps).problem);
  EXPECT_EQ(clock.end(-1), 0);
  EXPECT_EQ(clock.start(0), 0);
  EXPECT_EQ(clock.end(0), 2);
  EXPECT_EQ(clock.start(1), 2);
  EXPECT_EQ(clock.end(1), 7);
  // The host has issued h after 1 + 9 seconds only.
  EXPECT_EQ(clock.start(2), 10);
  EXPECT_EQ(clock.end(2), 11);
  // The end of the step.
  EXPECT_EQ(clock.start(3), 11);
  EXPECT_EQ(clock.end(3), 11);
}

TEST(StepClock, TheMachinesLaunchTimeCountsForOpsThatWereNotMeasured) {
  TestStep step(kThreeOps);
  step.problem.machine.launch_seconds = 3;
  EXPECT_EQ(StepClock(step.problem).start(0), 3);
}

TEST(StepClock, TicksAreFoundByTime) {
  const StepClock clock(TestStep(kThreeOps).problem);
  // Starts: 0, 2, 10 and 11.
  struct Case {
    double seconds;
    trace::Tick last_started;
    trace::Tick first_starting;
  };
  const Case cases[] = {{-1, -1, 0}, {0, 0, 0},  {1, 0, 1},  {2, 1, 1},
                        {9, 1, 2},   {10, 2, 2}, {11, 3, 3}, {20, 3, 4}};
  for (const Case& c : cases) {
    EXPECT_EQ(clock.last_started_by(c.seconds), c.last_started) << c.seconds;
    EXPECT_EQ(clock.first_starting_from(c.seconds), c.first_starting) << c.seconds;
  }
}

TEST(StepClock, GoesByAnotherOrder) {
  const TestStep step(kThreeOps);
  const StepClock clock(step.problem, {OpId{2}, OpId{0}, OpId{1}});
  const Timeline timeline = step.run("order 2 0 1\n");
  for (trace::Tick tick = 0; tick < 3; ++tick) {
    EXPECT_EQ(clock.end(tick), timeline.ticks[static_cast<std::size_t>(tick)].end_seconds);
  }
  EXPECT_EQ(clock.start(0), 9);
}

TEST(StepClock, IsThatOfTheSimulatorForThePlainStep) {
  const TestStep step(kThreeOps);
  const StepClock clock(step.problem);
  const Timeline timeline = step.run("");
  for (trace::Tick tick = 0; tick < 3; ++tick) {
    EXPECT_EQ(clock.end(tick), timeline.ticks[static_cast<std::size_t>(tick)].end_seconds);
  }
}

}  // namespace
}  // namespace lowtide::policy
