// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "lowtide/simulate.h"
#include "policy/test_outcome.h"
#include "sim/test_step.h"

namespace lowtide::policy {
namespace {

const PolicyOptions kAlone{{"floor", "no"}};

// Long ops between the making of a and b and their use: both copies hide.
constexpr std::string_view kFreeTime = R"(
storage w 1 parameter start end
storage a 10 activation
storage b 10 activation
storage t 20 activation
storage d 1 activation end
op fa forward : w -> a
op fb forward : w -> b
op warm forward device=50 : w ->
op peak forward device=100 : w -> t
op cool backward device=50 : w ->
op gb backward : b -> d
op ga backward : a d -> d
)";

// A chain of values, each made from the one before it and read once more on the way back. The first
// is dear to replay.
constexpr std::string_view kChain = R"(
storage w 1 parameter start end
storage a 10 activation
storage b 10 activation
storage c 10 activation
storage d 10 activation
storage g 1 activation end
op fa forward device=20 : w -> a
op fb forward : a -> b
op fc forward : b -> c
op fd forward : c -> d
op gd backward device=20 : d -> g
op gc backward device=5 : c g -> g
op gb backward : b g -> g
op ga backward : a g -> g
)";

double seconds_of(const TestStep& step, std::string_view policy,
                  const PolicyOptions& options = {}) {
  return simulate(step.problem, plan_of(step, policy, options)).seconds;
}

TEST(Tide, AStepThatFitsIsLeftAlone) { EXPECT_EQ(actions_of(TestStep(kFreeTime, 41), "tide"), ""); }

TEST(Tide, CopiesThatHideCostNothing) {
  const TestStep step(kFreeTime, 22);
  const Plan plan = plan_of(step, "tide", kAlone);
  EXPECT_EQ(count_of<Move>(plan), 2);
  EXPECT_EQ(replays_of(plan), 0);
  const Timeline timeline = simulate(step.problem, plan);
  EXPECT_EQ(timeline.seconds, timeline.compute_seconds);
}

TEST(Tide, WithoutATierOrWithoutLeaveToMoveValuesAreReplayed) {
  TestStep without_tier(kFreeTime, 22);
  without_tier.problem.machine.tiers.clear();
  EXPECT_EQ(replays_of(plan_of(without_tier, "tide", kAlone)), 2);
  const Plan plan = plan_of(TestStep(kFreeTime, 22), "tide", {{"floor", "no"}, {"swap", "no"}});
  EXPECT_EQ(count_of<Move>(plan), 0);
  EXPECT_EQ(replays_of(plan), 2);
}

TEST(Tide, WithoutLeaveToReplayValuesAreMoved) {
  const Plan plan =
      plan_of(TestStep(kFreeTime, 22), "tide", {{"floor", "no"}, {"recompute", "no"}});
  EXPECT_EQ(count_of<Move>(plan), 2);
  EXPECT_EQ(replays_of(plan), 0);
}

TEST(Tide, AChainIsReplayedOnceForAllItsReaders) {
  // With room for three of the four.
  EXPECT_EQ(actions_of(TestStep(kChain, 22), "tide", kAlone),
            "drop a.0 before 2\ndrop b.0 before 3\nrun 0 before 6\nrun 1 before 6\n");
}

TEST(Tide, WhatIsDearToReplayStaysWhileThereIsAnotherWay) {
  EXPECT_EQ(actions_of(TestStep(kChain, 32), "tide", kAlone),
            "drop b.0 before 3\nrun 1 before 6\n");
}

// Four small values that are soon computed again, or a large one that takes a little longer.
TEST(Tide, FewReplaysAreWorthMoreToABusyHost) {
  TestStep step(R"(
storage w 1 parameter start end
storage a 5 activation
storage b 5 activation
storage c 5 activation
storage d 5 activation
storage e 20 activation
storage t 20 activation
storage g 1 activation end
op fa forward : w -> a
op fb forward : w -> b
op fc forward : w -> c
op fd forward : w -> d
op fe forward device=6 : w -> e
op peak forward : w -> t
op ge backward : e -> g
op gd backward : d g -> g
op gc backward : c g -> g
op gb backward : b g -> g
op ga backward : a g -> g
)",
                42);
  const PolicyOptions only_replays{{"floor", "no"}, {"swap", "no"}};
  EXPECT_EQ(replays_of(plan_of(step, "tide", only_replays)), 4);
  step.problem.machine.watch_seconds = 1;
  step.problem.machine.action_seconds = 3;
  EXPECT_EQ(replays_of(plan_of(step, "tide", only_replays)), 1);
}

TEST(Tide, IsNeverSlowerThanThePoliciesItContains) {
  for (const std::string_view trace : {kFreeTime, kChain}) {
    for (std::int64_t budget = 22; budget < 41; ++budget) {
      const TestStep step(trace, budget);
      const double seconds = seconds_of(step, "tide", {{"tries", "8"}});
      for (const char* other : {"capuchin", "dtr", "sublinear", "vdnn", "belady"}) {
        if (smallest_budget_of(step, other) > 0) continue;
        EXPECT_LE(seconds, seconds_of(step, other)) << other << ' ' << budget;
      }
    }
  }
}

TEST(Tide, MoreTriesAreNeverWorseAloneAndTheSeedDecides) {
  const TestStep step(kChain, 31);
  const double few = seconds_of(step, "tide", {{"floor", "no"}, {"tries", "1"}});
  const double many = seconds_of(step, "tide", {{"floor", "no"}, {"tries", "100"}});
  EXPECT_LE(many, few);
  EXPECT_EQ(actions_of(step, "tide", {{"seed", "7"}}), actions_of(step, "tide", {{"seed", "7"}}));
}

TEST(Tide, ARefusalNamesABudgetThatWorks) {
  for (const std::string_view trace : {kFreeTime, kChain}) {
    for (const char* floor : {"yes", "no"}) {
      const std::int64_t smallest =
          smallest_budget_of(TestStep(trace, 12), "tide", {{"floor", floor}});
      ASSERT_GT(smallest, 12);
      plan_of(TestStep(trace, smallest), "tide", {{"floor", floor}});
    }
  }
}

// How often it asks whether to stop, when nobody wants it to.
int asked_by(TestStep step, const PolicyOptions& options) {
  int asked = 0;
  step.problem.should_stop = [&] {
    ++asked;
    return false;
  };
  outcome_of(step, "tide", options);
  return asked;
}

TEST(Tide, AsksWhetherToStopWhereverItSearches) {
  const TestStep step(kChain, 22);
  const int alone = asked_by(step, {{"tries", "0"}, {"floor", "no"}});
  EXPECT_GT(alone, 0);
  EXPECT_GE(asked_by(step, {{"tries", "0"}}), alone + 10) << "before each policy of the floor";
  EXPECT_GT(asked_by(TestStep(kChain, 12), {{"floor", "no"}, {"last_resort", "no"}}), 36)
      << "while it looks for a first plan, and there is none";
}

TEST(Tide, StoppedAtOnceItStillHasAnAnswer) {
  for (const std::string_view trace : {kFreeTime, kChain}) {
    for (std::int64_t budget = 12; budget < 41; ++budget) {
      for (const char* floor : {"yes", "no", "all"}) {
        TestStep step(trace, budget);
        const PolicyOptions options{{"floor", floor}};
        const std::int64_t whole = smallest_budget_of(step, "tide", options);
        step.problem.should_stop = [] { return true; };
        const std::int64_t cut = smallest_budget_of(step, "tide", options);
        // Alone it may have needed more than its first run.
        EXPECT_GE(cut > 0, whole > 0) << budget << ' ' << floor;
        if (floor != std::string_view("no")) {
          EXPECT_EQ(cut > 0, whole > 0) << budget;
        }
        if (cut > 0) {
          plan_of(TestStep(trace, cut), "tide", options);
        } else {
          plan_of(step, "tide", options);
        }
      }
    }
  }
}

// A parameter that is used all the time leaves no gap that a copy could hide in.
TEST(Tide, CopiesThatShowAreItsLastResort) {
  const TestStep step(R"(
storage p 6 parameter start end
storage q 6 parameter start end
storage d 1 activation
op a forward once : p -> d
op b forward once : q d -> d
op c backward once : p d -> d
op e backward once : q d -> d
)",
                      8);
  EXPECT_EQ(smallest_budget_of(step, "tide", {{"last_resort", "no"}}), 13);
  EXPECT_GT(count_of<Fetch>(plan_of(step, "tide")), 2);
  EXPECT_EQ(smallest_budget_of(TestStep(std::string(R"(
storage p 6 parameter start end
storage d 1 activation
op a forward once : p -> d
)"),
                                        6),
                               "tide"),
            7);
}

}  // namespace
}  // namespace lowtide::policy
