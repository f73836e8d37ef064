// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/simulation.h"

#include <gtest/gtest.h>

#include "lowtide/errors.h"
#include "sim/test_step.h"

namespace lowtide::sim {
namespace {

// x is there all the time; a is used early and then only by the last op.
constexpr std::string_view kChain = R"(
storage x 1 input start end
storage a 4 activation
storage b 3 activation
storage c 2 activation
storage d 1 activation end
op f0 forward : x -> a
op f1 forward : a -> b
op f2 forward : b -> c
op f3 forward : a c -> d
)";

std::int64_t bytes_of(const TickUse& tick, StorageKind kind) {
  return tick.bytes[static_cast<std::size_t>(kind)];
}

TEST(Simulation, PlainStepTakesTheSumOfItsOpsAndHoldsEveryLiveValue) {
  const Timeline timeline = TestStep(kChain).run("");
  EXPECT_EQ(timeline.seconds, 4);
  EXPECT_EQ(timeline.compute_seconds, 4);
  EXPECT_EQ(timeline.total_stall_seconds(), 0);
  // x a; x a b; x a b c; x a c d; x d.
  const std::vector<std::int64_t> expected = {5, 8, 10, 8, 2};
  ASSERT_EQ(timeline.ticks.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(timeline.ticks[i].total_bytes(), expected[i]) << "tick " << i;
  }
  EXPECT_EQ(timeline.peak_bytes, 10);
  EXPECT_EQ(timeline.peak_op, OpId{2});
  EXPECT_EQ(bytes_of(timeline.ticks[2], StorageKind::kInput), 1);
  EXPECT_EQ(bytes_of(timeline.ticks[2], StorageKind::kActivation), 9);
  EXPECT_EQ(timeline.ticks[2].start_seconds, 2);
  EXPECT_EQ(timeline.ticks[2].end_seconds, 3);
}

TEST(Simulation, ListsWhatThePlanHadDoneInOrder) {
  const Timeline timeline = TestStep(kChain).run("run 0 before 3\ndrop a.0 after 1\n");
  EXPECT_EQ(timeline.actions, (std::vector<ActionDone>{{OpId{1}, 1}, {OpId{3}, 0}}));
}

TEST(Simulation, WorkspaceCountsWhileItsOpRuns) {
  const Timeline timeline = TestStep(R"(
storage x 1 input start
storage a 2 activation end
op f forward workspace=7 : x -> a
)")
                                .run("");
  EXPECT_EQ(timeline.ticks[0].total_bytes(), 10);
  EXPECT_EQ(bytes_of(timeline.ticks[0], StorageKind::kWorkspace), 7);
  EXPECT_EQ(timeline.ticks[1].total_bytes(), 2);
}

TEST(Simulation, RecomputingCostsTimeAndLowersThePeak) {
  const Timeline timeline = TestStep(kChain).run("drop a.0 after 1\nrun 0 before 3\n");
  EXPECT_EQ(timeline.seconds, 5);
  EXPECT_EQ(timeline.compute_seconds, 4);
  EXPECT_EQ(timeline.recompute_seconds, 1);
  EXPECT_EQ(timeline.replays, 1);
  EXPECT_EQ(timeline.ticks[2].total_bytes(), 6);  // x b c
  EXPECT_EQ(timeline.peak_bytes, 8);
  EXPECT_EQ(timeline.peak_op, OpId{1});
}

TEST(Simulation, ResultsThatOnlyLaterReplaysReadGoAfterTheLastOfThem) {
  const Timeline timeline = TestStep(R"(
storage x 1 input start end
storage a 4 activation
storage b 3 activation
storage c 2 activation
storage d 9 activation end
op f0 forward : x -> a
op f1 forward : a -> b
op f2 forward : b -> c
op f3 forward : b c -> d
)")
                                .run("drop b.0 after 2\nrun 0 before 3\nrun 1 before 3\n");
  // In the prelude x c a b, which is 10; with the op x c b d, which is 15, and not 19 with a.
  EXPECT_EQ(timeline.ticks[3].total_bytes(), 15);
  EXPECT_EQ(timeline.seconds, 6);
}

TEST(Simulation, ReplayCountsAllItsResultsAndScratchForSideEffects) {
  const TestStep step(R"(
storage x 1 input start end
storage s 10 state start end
storage a 4 activation
storage b 3 activation
storage c 1 activation
storage d 1 activation end
op f0 forward : x ~s -> a b ~s
op f1 forward : b -> c
op f2 forward : a b c -> d
)");
  EXPECT_EQ(step.run("").peak_bytes, 20);  // x s a b c d
  const Timeline timeline = step.run("drop a.0 after 1\nrun 0 before 2\n");
  // x s b c, and from the replay a, another b and a scratch copy of s.
  EXPECT_EQ(timeline.ticks[2].total_bytes(), 15 + 4 + 3 + 10);
  EXPECT_EQ(bytes_of(timeline.ticks[2], StorageKind::kWorkspace), 10);
  EXPECT_EQ(timeline.ticks[3].total_bytes(), 12);  // x s d
}

TEST(Simulation, HeldValueStaysPastItsDeath) {
  const Timeline timeline = TestStep(kChain).run("hold b.0 until 3\n");
  EXPECT_EQ(timeline.ticks[3].total_bytes(), 11);
  EXPECT_EQ(timeline.ticks[4].total_bytes(), 2);
}

TEST(Simulation, InPlaceResultTakesOverTheBytesUnlessTheOldValueIsHeld) {
  const TestStep step(R"(
storage w 4 parameter start end
storage y 1 activation end
op f forward : w -> y
op u optimizer : w y -> w
op g other : w ->
)");
  EXPECT_EQ(step.run("").peak_bytes, 5);
  const Timeline held = step.run("hold w.0 until 2\n");
  EXPECT_EQ(held.ticks[1].total_bytes(), 9);
  EXPECT_EQ(held.ticks[2].total_bytes(), 9);
  EXPECT_EQ(held.ticks[3].total_bytes(), 5);
}

TEST(Simulation, ChosenImplementationHasItsOwnTimeAndWorkspace) {
  const Timeline timeline = TestStep(R"(
storage x 1 input start
storage a 2 activation end
op f forward device=10 workspace=3 option=slow:20:0 : x -> a
)")
                                .run("choose 0 slow\n");
  EXPECT_EQ(timeline.seconds, 20);
  EXPECT_EQ(timeline.peak_bytes, 3);
}

TEST(Simulation, OrderChangesWhenThingsLive) {
  const TestStep step(R"(
storage a 4 activation
storage b 4 activation
storage c 1 activation end
storage d 1 activation end
op fa forward : -> a
op fb forward : -> b
op ga forward : a -> c
op gb forward : b -> d
)");
  EXPECT_EQ(step.run("").peak_bytes, 9);
  EXPECT_EQ(step.run("order 0 2 1 3\n").peak_bytes, 6);
}

TEST(Simulation, SmallOpsAreLimitedByTheHost) {
  TestStep step(kChain);
  step.problem.machine.launch_seconds = 3;
  const Timeline timeline = step.run("");
  // Issued at 3, 6, 9 and 12; each takes a second.
  EXPECT_EQ(timeline.seconds, 13);
  EXPECT_EQ(timeline.stall_seconds[static_cast<std::size_t>(StallCause::kHost)], 9);
  EXPECT_TRUE(timeline.stalls.empty());
}

TEST(Simulation, ReplayCostsTheHostTimeToo) {
  TestStep step(kChain);
  step.problem.machine.launch_seconds = 3;
  EXPECT_EQ(step.run("drop a.0 after 1\nrun 0 before 3\n").seconds, 16);
}

TEST(Simulation, CarryingOutAPlanCostsTheHostTime) {
  TestStep step(kChain);
  step.problem.machine.launch_seconds = 2;
  step.problem.machine.watch_seconds = 1;
  // Four ops are issued as they are above, and a fifth; the drop and the replay take the host twice
  // the time besides.
  step.problem.machine.action_seconds = 5;
  EXPECT_EQ(step.run("drop a.0 after 1\nrun 0 before 3\n").seconds, 16 + 2 * 5);
}

TEST(Simulation, PlanOverItsBudgetRunsToTheEndAndShowsIt) {
  const Timeline timeline = TestStep(kChain, 7).run("");
  EXPECT_EQ(timeline.seconds, 4);
  EXPECT_EQ(timeline.peak_bytes, 10);
}

TEST(Simulation, AllocatorModelSeesTheSameStep) {
  TestStep step(R"(
storage x 3145728 input start
storage a 3145728 activation
storage b 3145728 activation end
op f forward : x -> a
op g forward : a -> b
)",
                std::int64_t{1} << 30);
  step.problem.machine = machine_named("h200");
  const Timeline timeline = step.run("");
  EXPECT_EQ(timeline.peak_bytes, 2 * 3145728);
  EXPECT_EQ(timeline.reserved_peak_bytes, 20 << 20);
  EXPECT_EQ(timeline.fragmentation_failures, 0);
  step.problem.budget_bytes = 10 << 20;
  EXPECT_EQ(step.run("").fragmentation_failures, 1);
}

TEST(Simulation, PlanThatUsesWhatIsNotThereIsRefused) {
  const TestStep step(kChain);
  const char* bad[] = {"drop a.0 after 1\n",
                       "drop a.0 after 1\ndrop a.0 after 2\n",
                       "drop b.0 after 1\nmove b.0 host after 1\n",
                       "fetch a.0 issue 1 need 2\n",
                       "decode a.0 before 1\n",
                       "drop x.0 after 0\ndrop a.0 after 1\nrun 0 before 3\n",
                       "run 3 before 1\n"};
  for (const char* actions : bad) EXPECT_THROW(step.run(actions), InvalidInput) << actions;
  Plan plan = step.plan("");
  plan.actions.emplace_back(Drop{ValueId{99}, OpId{0}, Drop::Side::kAfter});
  EXPECT_THROW(simulate(step.problem, plan), InvalidInput);
}

}  // namespace
}  // namespace lowtide::sim
