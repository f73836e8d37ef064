// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "trace/lifetimes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/errors.h"
#include "trace/text.h"

namespace lowtide::trace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Trace trace_of(const std::string& lines) { return parse_text("lowtide-trace 1\nname t\n" + lines); }

// "storage.version born-dies [reads]" with marks for overwritten (o) and at_end (e).
std::vector<std::string> describe(const Trace& trace, const Lifetimes& lifetimes) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < trace.values().size(); ++i) {
    const Lifetime& life = lifetimes.of(make_id<ValueId>(i));
    std::string text = trace.value_name(make_id<ValueId>(i)) + " " + std::to_string(life.born) +
                       ".." + std::to_string(life.dies);
    for (const Tick read : life.reads) text += " " + std::to_string(read);
    if (life.overwritten) text += " o";
    if (life.at_end) text += " e";
    result.push_back(std::move(text));
  }
  return result;
}

TEST(Lifetimes, ReachFromTheProducerToTheLastUseOfTheStorage) {
  const Trace trace = trace_of(
      "storage x 1 input start\nstorage a 1 activation\nstorage b 1 activation end\n"
      "op f forward : x -> a\nop g forward : a x -> b\nop h backward : a ->\n");
  EXPECT_THAT(describe(trace, Lifetimes(trace)),
              ElementsAre("x.0 -1..1 0 1", "a.0 0..2 1 2", "b.0 1..3 e"));
}

TEST(Lifetimes, EndWithTheOpThatOverwrites) {
  const Trace trace = trace_of(
      "storage w 1 parameter start end\nstorage a 1 activation\n"
      "op f forward : w -> a\nop relu_ forward : a -> a\nop fill_ forward : -> a\n"
      "op step optimizer : w a -> w\n");
  EXPECT_THAT(
      describe(trace, Lifetimes(trace)),
      ElementsAre("w.0 -1..3 0 3 o", "a.0 0..1 1 o", "a.1 1..2 o", "a.2 2..3 3", "w.1 3..4 e"));
}

TEST(Lifetimes, EndLaterThanTheLastUseWhenTheProgramFreesLate) {
  const Trace trace = trace_of(
      "storage x 1 input start\nstorage a 1 activation\nstorage unused 1 input start\n"
      "op f forward : x -> a\nop g forward : ->\nop h forward : -> free a x\n");
  EXPECT_THAT(describe(trace, Lifetimes(trace)),
              ElementsAre("x.0 -1..2 0", "unused.0 -1..0", "a.0 0..2"));
}

TEST(Lifetimes, CountViewsAsUsesOfTheStorageButNotAsReads) {
  const Trace trace = trace_of(
      "storage a 1 activation\nop f forward : -> a\nop g other : ->\nop view other : -> | a\n");
  EXPECT_THAT(describe(trace, Lifetimes(trace)), ElementsAre("a.0 0..2"));
}

TEST(Lifetimes, CountReadsThatAreSideEffects) {
  const Trace trace = trace_of("storage m 1 state start end\nop norm forward : ~m -> ~m\n");
  EXPECT_THAT(describe(trace, Lifetimes(trace)), ElementsAre("m.0 -1..0 0 o", "m.1 0..1 e"));
}

TEST(Lifetimes, OfAnotherOrderMoveReleasesWithTheOps) {
  // a is released after op 1 in the trace's order; op 2, which only frees b late, goes first.
  const Trace trace = trace_of(
      "storage a 1 temporary\nstorage b 1 input start\n"
      "op f forward : -> a\nop g forward : a ->\nop h forward : -> free b\n");
  const Lifetimes lifetimes(trace, {OpId{2}, OpId{0}, OpId{1}});
  EXPECT_THAT(describe(trace, lifetimes), ElementsAre("b.0 -1..0", "a.0 1..2 2"));
  EXPECT_EQ(lifetimes.tick_of(OpId{1}), 2);
  EXPECT_EQ(lifetimes.tick_of(trace.end()), 3);
  EXPECT_EQ(lifetimes.op_at(0), OpId{2});
  EXPECT_EQ(lifetimes.op_at(3), trace.end());
}

TEST(Lifetimes, OfAnotherOrderLastUntilAllUsersHaveRun) {
  // The op after which the program freed `a` runs first: `a` must still outlive its readers.
  const Trace trace = trace_of(
      "storage a 1 input start\nop f forward : a ->\nop g forward : a ->\nop h forward : -> free "
      "a\n");
  EXPECT_THAT(describe(trace, Lifetimes(trace, {OpId{2}, OpId{1}, OpId{0}})),
              ElementsAre("a.0 -1..2 1 2"));
}

TEST(Lifetimes, ListDeathsByTick) {
  const Trace trace = trace_of(
      "storage x 1 input start\nstorage a 1 activation\nstorage w 1 parameter start end\n"
      "op f forward : x -> a\nop g forward : a -> w\n");
  const Lifetimes lifetimes(trace);
  EXPECT_THAT(lifetimes.deaths(0), ElementsAre(ValueId{0}));              // x.0
  EXPECT_THAT(lifetimes.deaths(1), ElementsAre(ValueId{1}, ValueId{2}));  // w.0, a.0
  EXPECT_THAT(lifetimes.deaths(2), ElementsAre(ValueId{3}));              // w.1
}

TEST(Lifetime, KnowsWhenItExistsAndWasReadLast) {
  const std::vector<Tick> reads{3, 5};
  const Lifetime life{.born = 2, .dies = 6, .overwritten = false, .at_end = false, .reads = reads};
  EXPECT_EQ(life.last_read(), 5);
  EXPECT_EQ((Lifetime{.born = 2, .dies = 6, .reads = {}}.last_read()), 2);
  EXPECT_FALSE(life.exists_at(1));
  EXPECT_TRUE(life.exists_at(2));
  EXPECT_TRUE(life.exists_at(6));
  EXPECT_FALSE(life.exists_at(7));
}

TEST(Lifetimes, RefuseAnOrderThatIsNoPermutation) {
  const Trace trace = trace_of("op f forward : ->\nop g forward : ->\n");
  const std::vector<std::vector<OpId>> orders = {
      {}, {OpId{0}}, {OpId{0}, OpId{0}}, {OpId{0}, OpId{2}}, {OpId{0}, OpId{}}};
  for (const std::vector<OpId>& order : orders) {
    EXPECT_THROW(Lifetimes(trace, order), InvalidInput) << order.size();
  }
}

TEST(Lifetimes, OfAStepWithoutOpsEndAtOnce) {
  const Trace trace = trace_of("storage x 1 input start\n");
  const Lifetimes lifetimes(trace);
  EXPECT_EQ(lifetimes.end(), 0);
  EXPECT_THAT(describe(trace, lifetimes), ElementsAre("x.0 -1..0 e"));
  EXPECT_THAT(lifetimes.deaths(0), ElementsAre(ValueId{0}));
  EXPECT_THAT(lifetimes.sequence(), IsEmpty());
}

}  // namespace
}  // namespace lowtide::trace
