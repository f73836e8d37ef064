// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "trace/gaps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/text.h"

namespace lowtide::trace {
namespace {

using testing::ElementsAre;

std::vector<std::string> describe(const Trace& trace, const Lifetimes& lifetimes) {
  std::vector<std::string> result;
  for (const Gap& gap : gaps(trace, lifetimes)) {
    result.push_back(trace.value_name(gap.value) + " " + std::to_string(gap.from) + ".." +
                     std::to_string(gap.to));
  }
  return result;
}

TEST(Gaps, LieBetweenBirthReadsAndDeath) {
  // w waits for its read and then for the end, a between its reads, late for its release;
  // x is read at once and next is read in the tick after its birth, so neither has a gap.
  const Trace trace = parse_text(
      "lowtide-trace 1\nname t\nstorage w 1 parameter start end\nstorage x 1 input start\n"
      "storage a 1 activation\nstorage late 1 temporary\nstorage next 1 temporary\n"
      "op f forward : x -> a late\nop g forward : a w -> next\nop h forward : next ->\n"
      "op i backward : ->\nop j backward : a -> free late\nop k optimizer : ->\n");
  EXPECT_THAT(describe(trace, Lifetimes(trace)),
              ElementsAre("w.0 -1..1", "w.0 1..6", "a.0 1..4", "late.0 0..4"));
}

TEST(Gaps, EndWhereTheValueIsOverwritten) {
  const Trace trace = parse_text(
      "lowtide-trace 1\nname t\nstorage m 1 state start end\n"
      "op f forward : m ->\nop g forward : ->\nop h optimizer : -> m\nop i other : ->\n");
  EXPECT_THAT(describe(trace, Lifetimes(trace)), ElementsAre("m.0 0..2", "m.1 2..4"));
}

TEST(Gaps, FollowTheOrderOfTheLifetimes) {
  const Trace trace = parse_text(
      "lowtide-trace 1\nname t\nstorage a 1 temporary\n"
      "op f forward : -> a\nop g forward : a ->\nop h forward : ->\n");
  EXPECT_THAT(describe(trace, Lifetimes(trace)), ElementsAre());
  EXPECT_THAT(describe(trace, Lifetimes(trace, {OpId{0}, OpId{2}, OpId{1}})),
              ElementsAre("a.0 0..2"));
}

TEST(Gap, CountsTheTicksStrictlyBetween) {
  EXPECT_EQ((Gap{.value = ValueId{0}, .from = -1, .to = 4}.idle_ticks()), 4);
}

}  // namespace
}  // namespace lowtide::trace
