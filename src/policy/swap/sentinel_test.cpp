// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

// Layers there and back, a letter each, with an activation of 4 bytes that its way back reads and a
// temporary that lives within it. Two ops to a layer there, one back.
std::string net_of(const std::string& layers, const std::string& seconds) {
  std::string text = "storage w 1 parameter start end\nstorage x 1 input start\n";
  for (const char layer : layers) {
    text += std::string("storage ") + layer + " 4 activation\nstorage t" + layer + " 1 temporary\n";
  }
  text += "storage y 1 activation\n";
  char last = 'x';
  for (const char layer : layers) {
    const std::string name(1, layer);
    text += "op f forward layer=" + name + " device=" + seconds + " : " + last + " w -> t" + name +
            "\nop s forward layer=" + name + " device=0 : t" + name + " -> " + name + " free t" +
            name + "\n";
    last = layer;
  }
  std::string gradient;
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    const std::string name(1, *layer);
    text += "op r backward layer=" + name + " device=" + seconds + " : " + name + " w" + gradient +
            " -> y free " + name + "\n";
    gradient = " y";
  }
  return text;
}

// The layers of the way there begin in ticks 0, 2, 4 …, those of the way back are ticks 16 to 23.
// All of it takes 34 bytes.
std::string eight_layers(const std::string& seconds) { return net_of("abcdefgh", seconds); }

// What the paper reports: a fifth of the memory that the step takes is enough for its speed, where
// a layer takes as long as its copies.
TEST(Sentinel, AFifthOfTheMemoryIsEnoughForTheWholeSpeed) {
  const std::string layers = "abcdefghijklmnopqrstuvzABCDEFGHIJKLMNOPQ";
  const TestStep plain(net_of(layers, "8"), 1000);
  const Timeline without_plan = simulate(plain.problem, plan_of(plain, "sentinel"));
  ASSERT_EQ(without_plan.peak_bytes, 4 * 40 + 2);
  const TestStep step(net_of(layers, "8"), without_plan.peak_bytes / 5);
  const Timeline timeline = simulate(step.problem, plan_of(step, "sentinel"));
  EXPECT_LE(timeline.peak_bytes, 32);
  EXPECT_EQ(timeline.seconds, without_plan.seconds);
}

TEST(Sentinel, NothingMovesWhenTheStepFitsInOneInterval) {
  EXPECT_EQ(actions_of(TestStep(eight_layers("8"), 100), "sentinel"), "");
}

TEST(Sentinel, TheLongestIntervalsAreTakenThatFitAndOnlyWhatHasToLeaves) {
  // Intervals of three layers: a, b and c; d, e and f; g, h and h back; … begin in ticks 0, 6, 12,
  // 17, 20 and 23. What an interval uses is there one interval ahead: a from 20 on, b from 17.
  EXPECT_EQ(actions_of(TestStep(eight_layers("8"), 33), "sentinel"),
            "move a.0 host after 2\nfetch a.0 issue 20 need 23\n");
  EXPECT_EQ(actions_of(TestStep(eight_layers("8"), 26), "sentinel"),
            "move a.0 host after 2\nmove b.0 host after 4\n"
            "fetch b.0 issue 17 need 22\nfetch a.0 issue 20 need 23\n");
  // In tick 17 that are the six from b to g, so that less than 26 bytes take two layers.
  EXPECT_EQ(actions_of(TestStep(eight_layers("8"), 25), "sentinel"),
            "move a.0 host after 2\nmove b.0 host after 4\nmove c.0 host after 6\n"
            "fetch c.0 issue 18 need 21\n"
            "fetch b.0 issue 20 need 22\nfetch a.0 issue 20 need 23\n");
  // And here single ones.
  EXPECT_EQ(actions_of(TestStep(eight_layers("8"), 17), "sentinel"),
            "move a.0 host after 2\nmove b.0 host after 4\nmove c.0 host after 6\n"
            "move d.0 host after 8\nmove e.0 host after 10\n"
            "fetch e.0 issue 18 need 19\nfetch d.0 issue 19 need 20\nfetch c.0 issue 20 need 21\n"
            "fetch b.0 issue 21 need 22\nfetch a.0 issue 22 need 23\n");
}

TEST(Sentinel, IfCopiesShowWithEveryLengthTheOneIsTakenOfWhichTheLeastShows) {
  // Ops of a second: 7 seconds show with three layers, 10 with two and 12 with one.
  EXPECT_EQ(actions_of(TestStep(eight_layers("1"), 26), "sentinel"),
            actions_of(TestStep(eight_layers("8"), 26), "sentinel"));
}

TEST(Sentinel, ValuesOfOneLayerShareAPoolAndOthersLieByInterval) {
  const TestStep step(eight_layers("8"), 26);
  const Plan plan = plan_of(step, "sentinel", {{"pools", "yes"}});
  EXPECT_EQ(count_of<Place>(plan), static_cast<std::int64_t>(step.problem.trace->values().size()));
  const std::string actions = step.actions(plan);
  EXPECT_NE(actions.find("place ta.0 pool 0\nplace a.0 pool 2\nplace tb.0 pool 0\n"
                         "place b.0 pool 2\nplace tc.0 pool 0\nplace c.0 pool 2\n"
                         "place td.0 pool 0\nplace d.0 pool 3\n"),
            std::string::npos)
      << actions;
}

TEST(Sentinel, StatesThatOnlyTheEndUsesAreAwayUntilThen) {
  EXPECT_EQ(actions_of(TestStep(R"(
storage w 1 parameter start end
storage s 4 state start end
storage a 4 activation
storage t 6 temporary
storage g 1 gradient
op f forward device=9 : w -> a
op k forward device=9 : a -> t
op b backward device=9 : a w -> g free a
op u optimizer device=9 once : g s w -> s w
)",
                                11),
                       "sentinel"),
            "starts s host\nfetch s.0 issue 2 need 3\nmove s.1 host after 3\n");
}

TEST(Sentinel, ARefusalNamesABudgetThatWorks) {
  const std::int64_t smallest = smallest_budget_of(TestStep(eight_layers("8"), 3), "sentinel");
  ASSERT_GT(smallest, 3);
  plan_of(TestStep(eight_layers("8"), smallest), "sentinel");
  TestStep step(eight_layers("8"), 3);
  step.problem.machine.tiers.clear();
  EXPECT_EQ(smallest_budget_of(step, "sentinel"), 34);
}

TEST(Sentinel, TheLengthOfIntervalsCanBeGiven) {
  const TestStep step(eight_layers("8"), 33);
  EXPECT_EQ(actions_of(step, "sentinel", {{"interval", "1"}}),
            "move a.0 host after 2\nfetch a.0 issue 22 need 23\n");
  // With eight layers an interval has the way there or back, and everything is used in the next.
  EXPECT_EQ(smallest_budget_of(step, "sentinel", {{"interval", "8"}}), 34);
}

}  // namespace
}  // namespace lowtide::policy
