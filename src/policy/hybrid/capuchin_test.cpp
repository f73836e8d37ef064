// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

// Seconds: fa 0..1, fb 1..2, warm 2..52, peak 52..152, cool 152..202, gb 202..203, ga 203..204.
// A copy of a or b takes 10. Their free times:
//   a: (203 − 10) − (1 + 10) = 182      b: (202 − 10) − (2 + 10) = 180
// Plain, the peak takes 41 bytes.
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

void expect_no_stall(const TestStep& step, const Plan& plan) {
  const Timeline timeline = simulate(step.problem, plan);
  EXPECT_EQ(timeline.total_stall_seconds(), 0);
  EXPECT_EQ(timeline.seconds, timeline.compute_seconds);
  EXPECT_LE(timeline.peak_bytes, step.problem.budget_bytes);
}

TEST(Capuchin, TheValueWithTheLargestFreeTimeIsSwappedAndNothingStalls) {
  const TestStep step(kFreeTime, 31);
  const Plan plan = plan_of(step, "capuchin");
  // In from 193 on at the latest, which is while `cool` runs.
  EXPECT_EQ(step.actions(plan), "move a.0 host after 0\nfetch a.0 issue 4 need 6\n");
  expect_no_stall(step, plan);
}

TEST(Capuchin, CopiesTakeTurnsOnTheLink) {
  // gb still finds a there: 22 bytes.
  const TestStep step(kFreeTime, 22);
  const Plan plan = plan_of(step, "capuchin");
  // a leaves from 1 to 11 and b from 11 to 21; b has to be back by 202, a by 203.
  EXPECT_EQ(step.actions(plan),
            "move a.0 host after 0\nmove b.0 host after 1\n"
            "fetch a.0 issue 4 need 6\nfetch b.0 issue 4 need 5\n");
  expect_no_stall(step, plan);
}

TEST(Capuchin, ACopyThatWouldHaveToWaitForAnotherDoesNotHide) {
  struct Case {
    const char* what;
    const char* op;
    const char* shorter;
  };
  const Case cases[] = {
      // Out: a from 1 to 11, b until 21, and the peak begins at 17.
      {"the way out", "warm forward device=50", "warm forward device=15"},
      // In: a has 158 to 168, so that b would have to start before 148, while the peak lasts.
      {"the way in", "cool backward device=50", "cool backward device=15"},
  };
  for (const Case& c : cases) {
    std::string trace(kFreeTime);
    trace.replace(trace.find(c.op), std::string(c.op).size(), c.shorter);
    const TestStep step(trace, 22);
    const Plan plan = plan_of(step, "capuchin");
    EXPECT_EQ(count_of<Move>(plan), 1) << c.what << "\n" << step.actions(plan);
    EXPECT_EQ(replays_of(plan), 1) << c.what << "\n" << step.actions(plan);
  }
}

TEST(Capuchin, AStepThatFitsIsLeftAlone) {
  EXPECT_EQ(actions_of(TestStep(kFreeTime, 41), "capuchin"), "");
}

TEST(Capuchin, HiddenSwapsLeaveSmallValuesAlone) {
  std::string trace(kFreeTime);
  trace.replace(trace.find("a 10"), 4, "a 1 ");
  // 32 bytes; one too many. a has the larger free time, and is a fifth of the mean of 5.5.
  EXPECT_EQ(actions_of(TestStep(trace, 31), "capuchin", {{"ignore_below", "0.1"}}),
            "move a.0 host after 0\nfetch a.0 issue 5 need 6\n");
  EXPECT_EQ(actions_of(TestStep(trace, 31), "capuchin", {{"ignore_below", "0.5"}}),
            "move b.0 host after 1\nfetch b.0 issue 4 need 5\n");
}

// Ops of a second, a copy of a takes 10: nothing hides it. Out 1..11, in 11..21, needed at 2.
constexpr std::string_view kNoTime = R"(
storage w 1 parameter start end
storage a 10 activation
storage t 20 activation
storage d 1 activation end
op fa forward : w -> a
op peak forward : w -> t
op ga backward : a -> d
)";

TEST(Capuchin, WhatTheLinkCannotHideIsReplayedIfThatIsCheaper) {
  const char* swapped = "move a.0 host after 0\nfetch a.0 issue 2 need 2\n";
  const char* dropped = "drop a.0 after 0\nrun 0 before 2\n";
  EXPECT_EQ(actions_of(TestStep(kNoTime, 21), "capuchin"), dropped);
  EXPECT_EQ(actions_of(TestStep(kNoTime, 21), "capuchin", {{"recompute", "no"}}), swapped);
  // The swap shows 19 seconds: a replay that takes 18 is cheaper, one that takes 20 is not.
  for (const char* seconds : {"18", "20"}) {
    std::string trace(kNoTime);
    trace.replace(trace.find("fa forward"), 10, "fa forward device=" + std::string(seconds));
    EXPECT_EQ(actions_of(TestStep(trace, 21), "capuchin"),
              seconds == std::string("18") ? dropped : swapped);
    EXPECT_EQ(actions_of(TestStep(trace, 21), "capuchin", {{"swap", "no"}}), dropped);
  }
}

TEST(Capuchin, WithNeitherSwapNorReplayItIsRefused) {
  const PolicyOptions neither{{"swap", "no"}, {"recompute", "no"}};
  EXPECT_EQ(smallest_budget_of(TestStep(kNoTime, 21), "capuchin", neither), 31);
  EXPECT_EQ(actions_of(TestStep(kNoTime, 31), "capuchin", neither), "");
}

TEST(Capuchin, WithoutATierValuesAreReplayed) {
  TestStep step(kFreeTime, 31);
  step.problem.machine.tiers.clear();
  const Plan plan = plan_of(step, "capuchin");
  EXPECT_EQ(count_of<Move>(plan), 0);
  EXPECT_EQ(replays_of(plan), 1);
}

TEST(Capuchin, ATierThatIsFullTakesNoMore) {
  TestStep step(kFreeTime, 22);
  step.problem.machine.tiers[0].capacity_bytes = 19;
  const Plan plan = plan_of(step, "capuchin");
  EXPECT_EQ(count_of<Move>(plan), 1);
  EXPECT_EQ(replays_of(plan), 1);
}

// Seconds to replay and bytes: a 5 and 10 (2 bytes a second), b 1 and 4 (4), c 3 and 3 (1).
constexpr std::string_view kSavings = R"(
storage w 1 parameter start end
storage a 10 activation
storage b 4 activation
storage c 3 activation
storage t 20 activation
storage d 1 activation end
op fa forward device=5 : w -> a
op fb forward device=1 : w -> b
op fc forward device=3 : w -> c
op peak forward : w -> t
op g backward : a b c -> d
)";

TEST(Capuchin, MostBytesSavedPerSecondGoFirst) {
  // Plain: 38 bytes.
  struct Case {
    std::int64_t budget_bytes;
    const char* dropped;
  };
  const Case cases[] = {{34, "drop b.0 after 1\n"},
                        {33, "drop a.0 after 0\ndrop b.0 after 1\n"},
                        {24, "drop a.0 after 0\ndrop b.0 after 1\n"},
                        {23, "drop a.0 after 0\ndrop b.0 after 1\ndrop c.0 after 2\n"}};
  for (const Case& c : cases) {
    const std::string actions =
        actions_of(TestStep(kSavings, c.budget_bytes), "capuchin", {{"swap", "no"}});
    EXPECT_EQ(actions.substr(0, actions.find("run")), c.dropped) << c.budget_bytes;
  }
}

TEST(Capuchin, AReplayThatNeedsADroppedValueCostsMore) {
  // b alone takes a second to replay, and 9 once a is dropped as well; c takes 4.
  const TestStep step(R"(
storage w 1 parameter start end
storage a 10 activation
storage b 10 activation
storage c 10 activation
storage t 20 activation
storage d 1 activation end
op fa forward device=2 : w -> a
op fb forward device=3 : a -> b
op fc forward device=4 : w -> c
op peak forward : w -> t
op g backward : b c -> d
op h backward : a d -> d
)",
                      31);
  // First a (2 seconds); b would then take 5, so that c is next.
  const std::string actions = actions_of(step, "capuchin", {{"swap", "no"}});
  EXPECT_EQ(actions, "drop a.0 after 1\ndrop c.0 after 2\nrun 2 before 4\nrun 0 before 5\n");
}

TEST(Capuchin, WhatOtherReplaysStartFromWouldBeReplayedForEachOfThem) {
  // x and y go first. Then a takes 2 seconds, but for x, for y and for its own reader, 6 in all; c
  // takes 5.
  const TestStep step(R"(
storage w 1 parameter start end
storage a 10 activation
storage x 20 activation
storage y 20 activation
storage c 10 activation
storage t 20 temporary
storage d 1 activation end
op fa forward device=2 : w -> a
op fx forward device=1 : a -> x
op fy forward device=1 : a -> y
op fc forward device=5 : w -> c
op peak forward : w -> t
op gx backward : x -> d
op gy backward : y d -> d
op ga backward : a d -> d
op gc backward : c d -> d
)",
                      32);
  EXPECT_EQ(actions_of(step, "capuchin", {{"swap", "no"}}),
            "drop x.0 after 1\n"
            "drop y.0 after 2\n"
            "drop c.0 after 3\n"
            "run 1 before 5\n"
            "run 2 before 6\n"
            "run 3 before 8\n");
}

TEST(Capuchin, AReplayDoesNotNeedSideEffects) {
  const TestStep step(R"(
storage w 1 parameter start end
storage s 2 state start end
storage a 10 activation
storage t 20 activation
storage d 1 activation end
op batch_norm forward : w ~s -> a ~s
op peak forward : w -> t
op g backward : a -> d
)",
                      23);
  EXPECT_EQ(actions_of(step, "capuchin"), "drop a.0 after 0\nrun 0 before 2\n");
}

TEST(Capuchin, WhatNobodyReadsAgainIsDroppedForNothing) {
  const TestStep step(R"(
storage w 1 parameter start end
storage z 10 activation
storage t 20 activation
op f forward : w -> z
op peak forward : w -> t
op last forward : w -> free z
)",
                      21);
  EXPECT_EQ(actions_of(step, "capuchin"), "drop z.0 after 0\n");
}

// Two peaks, 41 bytes in tick 1 and 36 in tick 4, each with a value that could make room.
constexpr std::string_view kTwoPeaks = R"(
storage w 1 parameter start end
storage a 10 activation
storage b 10 activation
storage t 30 activation
storage u 25 activation
storage d 1 activation end
op fa forward : w -> a
op ft forward : w -> t
op ga backward : a ->
op fb forward : w -> b
op fu forward : w -> u
op gb backward : b -> d
)";

TEST(Capuchin, AsPublishedItEndsOnceTheOvershootIsSavedAndMayMissTheBudget) {
  const PolicyOptions published{{"until", "published"}};
  const std::int64_t smallest = smallest_budget_of(TestStep(kTwoPeaks, 31), "capuchin", published);
  EXPECT_EQ(smallest, 36);
  EXPECT_EQ(actions_of(TestStep(kTwoPeaks, smallest), "capuchin", published),
            "drop a.0 after 0\nrun 0 before 2\n");
  EXPECT_EQ(actions_of(TestStep(kTwoPeaks, 31), "capuchin"),
            "drop a.0 after 0\nrun 0 before 2\ndrop b.0 after 3\nrun 3 before 5\n");
}

TEST(Capuchin, ARefusalNamesABudgetThatWorks) {
  for (const std::string_view trace : {kFreeTime, kNoTime, kSavings, kTwoPeaks}) {
    for (const char* until : {"fits", "published"}) {
      const std::int64_t smallest =
          smallest_budget_of(TestStep(trace, 3), "capuchin", {{"until", until}});
      ASSERT_GT(smallest, 3);
      plan_of(TestStep(trace, smallest), "capuchin", {{"until", until}});
    }
  }
}

}  // namespace
}  // namespace lowtide::policy
