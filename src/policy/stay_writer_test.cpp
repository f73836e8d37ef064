// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/stay_writer.h"

#include <gtest/gtest.h>

#include "sim/test_step.h"

namespace lowtide::policy {
namespace {

using sim::TestStep;

// A chain of three with b dying early: nothing in the backward pass reads it.
constexpr std::string_view kStep = R"(
storage x 1 input start end
storage a 4 activation
storage b 4 activation
storage c 4 activation
storage g 1 gradient end
op fa forward : x -> a
op fb forward : a -> b
op fc forward : b -> c
op gc backward : c -> g
op ga backward : a g -> g
)";

struct NamedStay {
  const char* value;
  trace::Tick from;
  trace::Tick to;
};

// The actions for a, b and c with these stays; "impossible" if there are none.
std::string written(const std::vector<NamedStay>& stays, std::int64_t max_replays = 100) {
  const TestStep step(kStep);
  StayDecisions decisions;
  decisions.leaves.assign(step.problem.trace->values().size(), false);
  for (const char* name : {"a.0", "b.0", "c.0"}) decisions.leaves[step.value(name).slot()] = true;
  for (const NamedStay& stay : stays) {
    decisions.stays.push_back({step.value(stay.value), stay.from, stay.to});
  }
  auto actions =
      write_stays(*step.problem.trace, *step.problem.trace->lifetimes(), decisions, max_replays);
  if (!actions) return "impossible";
  Plan plan = step.plan("");
  plan.actions = *std::move(actions);
  EXPECT_EQ(step.faults(plan), "");
  return step.actions(plan);
}

TEST(StayWriter, WhatStaysAsLongAsItIsUsedNeedsNoAction) {
  EXPECT_EQ(written({{"a.0", 0, 4}, {"b.0", 1, 2}, {"c.0", 2, 3}}), "");
}

TEST(StayWriter, WhatLeavesIsReplayedWhenItIsRead) {
  EXPECT_EQ(written({{"a.0", 0, 1}, {"b.0", 1, 2}, {"c.0", 2, 3}}),
            "drop a.0 after 1\nrun 0 before 4\n");
}

TEST(StayWriter, AStayThatBeginsLaterBeginsWithAReplay) {
  EXPECT_EQ(written({{"a.0", 0, 1}, {"a.0", 3, 4}, {"b.0", 1, 2}, {"c.0", 2, 3}}),
            "drop a.0 after 1\nrun 0 before 3\n");
}

TEST(StayWriter, WhatDiesIsHeldForAsLongAsItStays) {
  EXPECT_EQ(written({{"a.0", 0, 4}, {"b.0", 1, 3}, {"c.0", 2, 2}}),
            "hold b.0 from 2 until 3\ndrop c.0 after 2\nrun 2 before 3\ndrop b.0 before 3\n");
}

TEST(StayWriter, WhatAReplayNeedsIsReplayedFirstAndGoesAgain) {
  // c is made again from a, by way of b, which nobody has any more.
  EXPECT_EQ(written({{"a.0", 0, 1}, {"b.0", 1, 2}, {"c.0", 2, 2}, {"a.0", 4, 4}}),
            "drop a.0 after 1\ndrop c.0 after 2\n"
            "run 0 before 3\nrun 1 before 3\ndrop a.0 before 3\nrun 2 before 3\nrun 0 before 4\n");
}

TEST(StayWriter, StaysThatOnlyTouchAreTwo) {
  EXPECT_EQ(written({{"a.0", 0, 1}, {"a.0", 2, 4}, {"b.0", 1, 2}, {"c.0", 2, 3}}),
            "drop a.0 after 1\nrun 0 before 2\n");
  EXPECT_EQ(written({{"a.0", 0, 2}, {"a.0", 2, 4}, {"b.0", 1, 2}, {"c.0", 2, 3}}), "");
}

TEST(StayWriter, WhatIsMovedComesBackForItsStayOrBeforeForAReplay) {
  const TestStep step(kStep);
  StayDecisions decisions;
  decisions.leaves.assign(step.problem.trace->values().size(), false);
  for (const char* name : {"a.0", "b.0", "c.0"}) decisions.leaves[step.value(name).slot()] = true;
  decisions.stays = {{step.value("a.0"), 0, 1},
                     {step.value("a.0"), 4, 4},
                     {step.value("b.0"), 1, 2},
                     {step.value("c.0"), 2, 3}};
  decisions.swaps = {{step.value("a.0"), TierId{0}, 1, 3, 4}};
  const auto written_with = [&] {
    Plan plan = step.plan("");
    plan.actions =
        write_stays(*step.problem.trace, *step.problem.trace->lifetimes(), decisions, 10).value();
    EXPECT_EQ(step.faults(plan), "");
    return step.actions(plan);
  };
  EXPECT_EQ(written_with(), "move a.0 host after 1\nfetch a.0 issue 3 need 4\n");
  // With c gone it is made again from a.
  decisions.stays.back().to = 2;
  EXPECT_EQ(written_with(),
            "move a.0 host after 1\ndrop c.0 after 2\nfetch a.0 issue 3 need 3\n"
            "run 1 before 3\nrun 2 before 3\n");
}

TEST(StayWriter, TooManyReplaysAreNone) {
  const std::vector<NamedStay> stays{{"a.0", 0, 1}, {"b.0", 1, 2}, {"c.0", 2, 2}};
  EXPECT_NE(written(stays, 4), "impossible");
  EXPECT_EQ(written(stays, 3), "impossible");
}

}  // namespace
}  // namespace lowtide::policy
