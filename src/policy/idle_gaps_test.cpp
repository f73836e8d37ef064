// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/idle_gaps.h"

#include <gtest/gtest.h>

#include "sim/test_step.h"

namespace lowtide::policy {
namespace {

using sim::TestStep;

// "a.0 0-2" for each gap, with + between those of a group.
std::string gaps_of(const TestStep& step) {
  const Trace& trace = *step.problem.trace;
  std::string text;
  for (const GapGroup& group :
       idle_gaps(trace, *trace.lifetimes(), std::vector<bool>(trace.storages().size(), true))) {
    std::string line;
    for (const IdleGap& gap : group.gaps) {
      line += (line.empty() ? "" : " + ") + step.name(gap.value) + " " + std::to_string(gap.after) +
              "-" + std::to_string(gap.need);
    }
    text += line + "\n";
  }
  return text;
}

TEST(IdleGaps, AreBetweenTheUsesOfAValueAndAfterTheLast) {
  EXPECT_EQ(gaps_of(TestStep(R"(
storage x 1 input start
storage a 1 activation
op f forward : x -> a
op g forward : a ->
op h forward : ->
op i backward : a -> free x
op j backward : -> free a
)")),
            "x.0 -1-0\nx.0 0-6\na.0 0-1\na.0 1-3\na.0 3-6\n");
}

TEST(IdleGaps, OfAStorageBeforeAndAfterTheStepAreOne) {
  // Also where the step overwrites what it finds without having read it.
  EXPECT_EQ(gaps_of(TestStep(R"(
storage w 1 parameter start end
storage s 1 state start end
op f forward : w ->
op g forward : -> s
op h optimizer : w -> w
)")),
            "w.0 0-2\nw.0 -1-0 + w.1 2-4\ns.0 -1-4 + s.1 1-4\n");
}

TEST(IdleGaps, WhatStaysIsThereUntilItDies) {
  const TestStep step(R"(
storage a 1 activation
op f forward : -> a
op g forward : ->
op h forward : -> free a
op i forward : ->
)");
  const Trace& trace = *step.problem.trace;
  const std::vector<GapGroup> groups = idle_gaps(trace, *trace.lifetimes(), {true});
  ASSERT_EQ(groups.size(), 1U);
  const std::vector<Presence> presences = if_it_stays(groups.front(), *trace.lifetimes());
  ASSERT_EQ(presences.size(), 1U);
  EXPECT_EQ(presences.front().first, 1);
  EXPECT_EQ(presences.front().last, 2);
  EXPECT_EQ(idle_seconds(groups.front(), *trace.lifetimes(), StepClock(step.problem)), 3);
}

}  // namespace
}  // namespace lowtide::policy
