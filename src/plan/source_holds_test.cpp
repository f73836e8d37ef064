// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/source_holds.h"

#include <gtest/gtest.h>

#include "plan/fixture_test.h"

namespace lowtide::plan {
namespace {

// "x.0 until 3;" for every hold, in order.
std::string holds_of(std::string_view trace_lines, std::int64_t budget_bytes) {
  const Problem problem = problem_of(trace_lines, budget_bytes);
  const trace::Lifetimes lifetimes(*problem.trace);
  const cost::CostTable costs(*problem.trace, problem.machine);
  std::string text;
  for (const ExtendedLife& hold : hold_sources(problem, lifetimes, costs)) {
    text += problem.trace->value_name(hold.value) + " until " + std::to_string(hold.until) + ";";
  }
  return text;
}

// x is gone after tick 0; a is computed from it, b from a; b is read in tick 3. Plain peak: 121.
constexpr std::string_view kReleased = R"(
storage x 1 input start
storage a 40 activation
storage b 40 activation
storage t 40 activation
storage d 1 activation end
op f forward : x -> a free x
op g forward : a -> b
op t forward : -> t
op h backward : a b t -> d
)";

TEST(SourceHolds, AReleasedSourceIsHeldUntilTheLastNeedOfWhatIsComputedFromIt) {
  // d outlives the step and is computed from x as well: the last need is the end.
  EXPECT_EQ(holds_of(kReleased, 100), "x.0 until 4;");
  // The last op runs once, so that nothing replays it: what it reads is needed for the last time.
  std::string once(kReleased);
  once.replace(once.find("backward :"), 10, "backward once :");
  EXPECT_EQ(holds_of(once, 100), "x.0 until 3;");
}

TEST(SourceHolds, NoneIsHeldWhenThePlainStepFits) {
  EXPECT_EQ(holds_of(kReleased, 120), "x.0 until 4;");
  EXPECT_EQ(holds_of(kReleased, 121), "");
}

TEST(SourceHolds, ASourceAliveAtTheLastNeedTakesNoHold) {
  std::string kept(kReleased);
  kept.replace(kept.find("input start"), 11, "input start end");
  kept.erase(kept.find(" free x"), 7);
  EXPECT_EQ(holds_of(kept, 100), "");
}

struct OverwriteCase {
  const char* phase;
  const char* holds;
};

TEST(SourceHolds, WhatTheOptimizerOverwritesIsNotHeld) {
  const OverwriteCase cases[] = {{"optimizer", ""}, {"other", "x.0 until 3;"}};
  for (const OverwriteCase& c : cases) {
    const std::string trace = R"(
storage x 1 parameter start end
storage a 40 activation
storage t 40 activation
storage d 1 activation end
op f forward : x -> a
op u )" + std::string(c.phase) +
                              R"( once : x -> x
op t forward : -> t
op h backward once : a -> d
)";
    EXPECT_EQ(holds_of(trace, 50), c.holds) << c.phase;
  }
}

TEST(SourceHolds, SmallestSourcesFirstUpToATwentiethOfTheBudget) {
  constexpr std::string_view kThree = R"(
storage x 3 input start
storage y 2 input start
storage z 4 input start
storage a 90 activation
storage t 90 activation
storage d 1 activation end
op f forward : x y z -> a free x y z
op t forward : -> t
op h backward once : a t -> d
)";
  // A twentieth is 5, 4, 1 and 9 bytes.
  EXPECT_EQ(holds_of(kThree, 100), "y.0 until 2;x.0 until 2;");
  EXPECT_EQ(holds_of(kThree, 99), "y.0 until 2;");
  EXPECT_EQ(holds_of(kThree, 39), "");
  EXPECT_EQ(holds_of(kThree, 180), "y.0 until 2;x.0 until 2;z.0 until 2;");
}

}  // namespace
}  // namespace lowtide::plan
