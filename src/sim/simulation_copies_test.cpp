// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "sim/simulation.h"
#include "sim/test_step.h"

namespace lowtide::sim {
namespace {

// Runs plain at 0-1, 1-2, 2-12, 12-22 and 22-23 seconds; a lies idle from 2 to 22. Host memory
// takes and gives a byte a second, so a is four seconds under way; disk half a byte.
constexpr std::string_view kIdle = R"(
storage x 1 input start end
storage a 4 activation codec=half:2:0.5:0.25
storage b 3 activation
storage c 2 activation
storage e 5 activation
storage d 1 activation end
op f0 forward : x -> a
op f1 forward : a -> b
op f2 forward device=10 : b -> c
op f3 forward device=10 : c -> e
op f4 forward : a e -> d
)";

std::int64_t peak(const TickUse& tick) { return tick.total_bytes(); }

TEST(Copies, MoveAndEarlyFetchHideBehindCompute) {
  const TestStep step(kIdle);
  const Timeline timeline = step.run("move a.0 host after 1\nfetch a.0 issue 3 need 4\n");
  EXPECT_EQ(timeline.seconds, 23);
  EXPECT_EQ(timeline.total_stall_seconds(), 0);
  EXPECT_EQ(timeline.tier_peak_bytes, (std::vector<std::int64_t>{4, 0}));
  ASSERT_EQ(timeline.links.size(), 4U);
  EXPECT_EQ(timeline.links[0].bytes, 4);
  EXPECT_EQ(timeline.links[0].busy_seconds, 4);
  EXPECT_FALSE(timeline.links[1].to_tier);
  EXPECT_EQ(timeline.links[1].bytes, 4);
}

TEST(Copies, TellInWhichTickAMovedValueHasLeft) {
  const TestStep step(kIdle);
  const Timeline timeline = step.run("move a.0 host after 1\nfetch a.0 issue 3 need 4\n");
  ASSERT_EQ(timeline.departures.size(), 1U);
  EXPECT_EQ(timeline.departures.front().op, OpId{2}) << "it is under way from 2 to 6";
  EXPECT_EQ(step.problem.trace->value_name(timeline.departures.front().value), "a.0");
}

TEST(Copies, LateFetchStallsTheDevice) {
  const TestStep step(kIdle);
  const Timeline timeline = step.run("move a.0 host after 1\nfetch a.0 issue 4 need 4\n");
  EXPECT_EQ(step.stalls(timeline), "fetch a.0 at 4 for 4;");
  EXPECT_EQ(timeline.seconds, 27);
}

TEST(Copies, FetchStartsOnlyWhenTheMoveHasEnded) {
  TestStep step(kIdle);
  step.problem.machine.tiers[0].write_bytes_per_second = 0.2;
  // Out from 2 to 22, back from 22 to 26.
  const Timeline timeline = step.run("move a.0 host after 1\nfetch a.0 issue 3 need 4\n");
  EXPECT_EQ(step.stalls(timeline), "fetch a.0 at 4 for 4;");
}

TEST(Copies, MoveThatIsNotDoneWhenRoomIsNeededStallsTheDevice) {
  // Op 2 needs two bytes at second 2, when x, a and b take 8 of 9; a has left at second 6.
  const TestStep step(kIdle, 9);
  const Timeline timeline = step.run("move a.0 host after 1\nfetch a.0 issue 4 need 4\n");
  EXPECT_EQ(step.stalls(timeline), "room a.0 at 2 for 4;fetch a.0 at 4 for 4;");
  EXPECT_EQ(peak(timeline.ticks[2]), 8);  // before the wait
  EXPECT_EQ(timeline.ticks[2].leaving_bytes, 4);
  EXPECT_EQ(timeline.peak_bytes, 11);  // x a e d in the end, which this plan does nothing about
}

TEST(Copies, BytesOnTheirWayOutAreShownAsLeaving) {
  const Timeline timeline =
      TestStep(kIdle).run("move a.0 host after 1\nfetch a.0 issue 4 need 4\n");
  EXPECT_EQ(peak(timeline.ticks[2]), 10);
  EXPECT_EQ(timeline.ticks[2].leaving_bytes, 4);
  EXPECT_EQ(peak(timeline.ticks[3]), 8);  // x c e
  EXPECT_EQ(timeline.ticks[3].leaving_bytes, 0);
}

TEST(Copies, FetchWithoutRoomWaitsInsteadOfTheDevice) {
  const TestStep step(R"(
storage p 4 input start
storage q 4 activation
storage r 1 activation
storage s 1 activation
storage d 1 activation end
op f0 forward : -> q
op f1 forward : -> r
op f2 forward device=20 : r -> s
op f3 forward : p s -> d free q
)",
                      6);
  const Timeline timeline =
      step.run("starts p host\nmove q.0 host after 0\nfetch p.0 issue 2 need 3\n");
  // q leaves from 1 to 5; p may come at 2 but has room at 5, and is there at 9. Op 2, from 2 on,
  // takes one byte, which fits both with q and with p.
  EXPECT_EQ(timeline.total_stall_seconds(), 0);
  EXPECT_EQ(timeline.seconds, 23);
  EXPECT_EQ(timeline.peak_bytes, 6);
  EXPECT_EQ(timeline.links[1].busy_seconds, 4);
}

TEST(Copies, NobodyTakesRoomThatAFetchWasPromised) {
  const TestStep step(R"(
storage p 4 input start
storage q 2 activation
storage r 2 activation
storage s 2 activation
storage d 1 activation end
op f0 forward : -> q
op f1 forward : -> r
op f2 forward device=20 : -> s
op f3 forward : p s -> d free q r
)",
                      7);
  const Timeline timeline = step.run(
      "starts p host\nmove q.0 host after 0\nmove r.0 host after 1\nfetch p.0 issue 2 need 3\n");
  // q leaves from 1 to 3 and r from 3 to 5; p is promised the room of q. Beside q and r, s would
  // fit at 2, but then p would not at 3: s waits for both.
  EXPECT_EQ(step.stalls(timeline), "room q.0 at 2 for 1;room r.0 at 2 for 2;");
  EXPECT_EQ(timeline.seconds, 26);
  EXPECT_EQ(timeline.peak_bytes, 7);  // p d s
}

TEST(Copies, FetchThatComesWhileTheHostIsBusyCostsNothing) {
  TestStep step(R"(
storage p 4 input start
storage d 1 activation end
op f0 forward host=5 : p -> d
)");
  const Timeline timeline = step.run("starts p host\nfetch p.0 issue 0 need 0\n");
  EXPECT_EQ(timeline.seconds, 6);
  EXPECT_EQ(step.stalls(timeline), "");
}

TEST(Copies, DiskIsReachedThroughHostMemory) {
  const TestStep step(kIdle);
  const Timeline timeline = step.run("move a.0 disk after 1\nfetch a.0 issue 3 need 4\n");
  // To the host 2-6, to the disk 6-14; asked for at 12, read from 14 to 22, on the device at 26.
  EXPECT_EQ(step.stalls(timeline), "fetch a.0 at 4 for 4;");
  EXPECT_EQ(timeline.seconds, 27);
  // At 12 it lies on the host twice: what is being written, and the place for what will be read.
  EXPECT_EQ(timeline.tier_peak_bytes, (std::vector<std::int64_t>{8, 4}));
  EXPECT_EQ(timeline.links[0].busy_seconds, 4);
  EXPECT_EQ(timeline.links[1].busy_seconds, 4);
  EXPECT_EQ(timeline.links[2].busy_seconds, 8);
  EXPECT_EQ(timeline.links[3].busy_seconds, 8);
}

TEST(Copies, DeviceBytesOfAMoveToDiskGoWithTheFirstCopy) {
  const TestStep step(kIdle, 9);
  const Timeline timeline = step.run("move a.0 disk after 1\nfetch a.0 issue 4 need 4\n");
  EXPECT_EQ(step.stalls(timeline), "room a.0 at 2 for 4;fetch a.0 at 4 for 12;");
}

TEST(Copies, EncodeAndDecodeRunOnTheDevice) {
  const Timeline timeline = TestStep(kIdle).run("encode a.0 half after 1\ndecode a.0 before 4\n");
  EXPECT_EQ(timeline.seconds, 23.75);
  EXPECT_EQ(timeline.codec_seconds, 0.75);
  EXPECT_EQ(peak(timeline.ticks[1]), 10);  // x a b and a encoded
  EXPECT_EQ(peak(timeline.ticks[2]), 8);   // x b c and a encoded
  EXPECT_EQ(peak(timeline.ticks[4]), 12);  // x e a and a encoded
}

TEST(Copies, EncodedMoveCopiesFewerBytes) {
  const Timeline timeline =
      TestStep(kIdle).run("move a.0 host after 1 codec half\nfetch a.0 issue 3 need 4\n");
  EXPECT_EQ(timeline.seconds, 23.75);
  EXPECT_EQ(timeline.total_stall_seconds(), 0);
  EXPECT_EQ(timeline.links[0].bytes, 2);
  EXPECT_EQ(timeline.links[1].busy_seconds, 2);
  EXPECT_EQ(timeline.tier_peak_bytes[0], 2);
  EXPECT_EQ(peak(timeline.ticks[2]), 8);   // x b c and a encoded, leaving
  EXPECT_EQ(peak(timeline.ticks[3]), 14);  // x c e and a in both forms
  EXPECT_EQ(peak(timeline.ticks[4]), 12);  // x e a and a encoded
}

TEST(Copies, StepEndsWhenTheLastCopyHas) {
  const TestStep step(R"(
storage w 6 parameter start end
storage d 1 activation end
op f forward : w -> d
)");
  const Timeline timeline =
      step.run("starts w host\nfetch w.0 issue 0 need 0\nmove w.0 host after 0\n");
  EXPECT_EQ(step.stalls(timeline), "fetch w.0 at 0 for 6;drain w.0 at 1 for 6;");
  EXPECT_EQ(timeline.seconds, 13);
  EXPECT_EQ(timeline.ticks.back().end_seconds, 13);
}

constexpr std::string_view kHostOptimizer = R"(
storage p 4 parameter start end
storage g 2 gradient
storage z 1 activation end
op bwd backward : -> g
op adam optimizer option=cpu:3:0:host : p g -> p
op next forward : -> z
)";

TEST(Copies, OpOnTheHostWaitsForItsInputsAndLeavesTheDeviceFree) {
  const TestStep step(kHostOptimizer);
  const Timeline timeline = step.run("starts p host\nchoose 1 cpu\nmove g.0 host after 0\n");
  // g is there at 3, the optimizer runs from 3 to 6; the device is done at 2.
  EXPECT_EQ(timeline.ticks[2].end_seconds, 2);
  EXPECT_EQ(step.stalls(timeline), "drain p.1 at 3 for 4;");
  EXPECT_EQ(timeline.seconds, 6);
  EXPECT_EQ(timeline.compute_seconds, 2);
  EXPECT_EQ(timeline.tier_peak_bytes[0], 6);
  EXPECT_EQ(timeline.peak_bytes, 3);  // z, and g leaving
}

TEST(Copies, ResultOfAnOpOnTheHostIsFetchedWhenItIsReady) {
  const TestStep step(R"(
storage p 4 parameter start end
storage g 2 gradient
storage z 1 activation end
op bwd backward : -> g
op adam optimizer option=cpu:3:0:host : p g -> p
op next forward : p -> z
)");
  const Timeline timeline = step.run(
      "starts p host\nchoose 1 cpu\nmove g.0 host after 0\n"
      "fetch p.1 issue 2 need 2\nmove p.1 host after 2\n");
  EXPECT_EQ(step.stalls(timeline), "fetch p.1 at 2 for 9;drain p.1 at 3 for 4;");
}

TEST(Copies, OpThatReadsHostMemoryWaitsForTheMoveOnly) {
  const TestStep step(R"(
storage x 1 input start end
storage a 4 activation
storage d 1 activation end
op f0 forward : x -> a
op f1 forward option=far:7:0:host_reads : a -> d
)");
  const Timeline timeline = step.run("move a.0 host after 0\nchoose 1 far\n");
  EXPECT_EQ(step.stalls(timeline), "fetch a.0 at 1 for 4;");
  EXPECT_EQ(timeline.seconds, 12);
}

TEST(Copies, ValueThatDiesOnItsWayInIsLetGoWhenItHasCome) {
  const TestStep step(R"(
storage x 1 input start end
storage a 4 activation
storage b 1 activation
storage d 1 activation end
op f0 forward : x -> a
op f1 forward : a -> b
op f2 forward : b -> d free a
)");
  // Out from 2 to 6, back from 6 to 10; op 2 ends at 3.
  const Timeline timeline = step.run("move a.0 host after 1\nfetch a.0 issue 2 need end\n");
  EXPECT_EQ(step.stalls(timeline), "fetch a.0 at 2 for 7;");
  EXPECT_EQ(timeline.ticks.back().total_bytes(), 2);
}

// --- A bound on what is on the way. ---

// Runs plainly at 0-1, 1-2, 2-4, 4-14, 14-15 and 15-16 seconds.
constexpr std::string_view kTwoIdle = R"(
storage a 4 activation
storage b 3 activation
storage c 1 activation
storage d 1 activation
storage e 1 activation
storage f 1 activation end
op f0 forward : -> a
op f1 forward : -> b
op f2 forward device=2 : -> c
op f3 forward device=10 : -> d
op f4 forward : a -> e
op f5 forward : b -> f
)";

// "0 at 1;" for every action of the plan that was carried out.
std::string actions_done(const Timeline& timeline) {
  std::string text;
  for (const ActionDone& done : timeline.actions) {
    text += std::to_string(done.action) + " at " + std::to_string(done.op.index) + ";";
  }
  return text;
}

TEST(BytesInFlight, AMoveWaitsUntilThoseBeforeItHaveLeft) {
  TestStep step(kTwoIdle);
  const char* const plan =
      "move a.0 host after 1\nmove b.0 host after 1\n"
      "fetch a.0 issue 4 need 4\nfetch b.0 issue 5 need 5\n";
  EXPECT_EQ(actions_done(step.run(plan)), "0 at 1;1 at 1;2 at 4;3 at 5;");
  step.problem.machine.most_bytes_in_flight = 7;
  EXPECT_EQ(actions_done(step.run(plan)), "0 at 1;1 at 1;2 at 4;3 at 5;");
  step.problem.machine.most_bytes_in_flight = 6;
  const Timeline timeline = step.run(plan);
  // The first leaves from 2 to 6, in op 3, at whose end the second begins.
  EXPECT_EQ(actions_done(timeline), "0 at 1;1 at 3;2 at 4;3 at 5;");
  ASSERT_EQ(timeline.departures.size(), 2U);
  EXPECT_EQ(timeline.departures[0].op, OpId{3});
  EXPECT_EQ(timeline.departures[1].op, OpId{4}) << "from 14 to 17, while a is waited for";
}

TEST(BytesInFlight, WhatIsLargerThanTheBoundGoesAlone) {
  TestStep step(kTwoIdle);
  step.problem.machine.most_bytes_in_flight = 1;
  EXPECT_EQ(actions_done(step.run("move a.0 host after 1\nfetch a.0 issue 4 need 4\n")),
            "0 at 1;1 at 4;");
}

TEST(BytesInFlight, AFetchWaitsUntilThoseBeforeItAreUsed) {
  TestStep step(kTwoIdle);
  step.problem.machine.tiers[0].write_bytes_per_second = 4;
  const char* const plan =
      "move a.0 host after 0\nmove b.0 host after 1\n"
      "fetch a.0 issue 3 need 4\nfetch b.0 issue 3 need 5\n";
  step.problem.machine.most_bytes_in_flight = 7;
  EXPECT_EQ(actions_done(step.run(plan)), "0 at 0;1 at 1;2 at 3;3 at 3;");
  EXPECT_EQ(step.run(plan).total_stall_seconds(), 0);
  // Until op 4 has used the first it counts; so the second begins with op 5, which waits for it.
  step.problem.machine.most_bytes_in_flight = 6;
  const Timeline timeline = step.run(plan);
  EXPECT_EQ(actions_done(timeline), "0 at 0;1 at 1;2 at 3;3 at 5;");
  EXPECT_EQ(step.stalls(timeline), "fetch b.0 at 5 for 3;");
}

TEST(BytesInFlight, AFetchThatWaitsBeginsWhenItsValueIsNeeded) {
  TestStep step(kTwoIdle);
  step.problem.machine.tiers[0].write_bytes_per_second = 4;
  step.problem.machine.most_bytes_in_flight = 6;
  const Timeline timeline = step.run(
      "move a.0 host after 0\nmove b.0 host after 1\n"
      "fetch b.0 issue 3 need 5\nfetch a.0 issue 3 need 4\n");
  EXPECT_EQ(actions_done(timeline), "0 at 0;1 at 1;2 at 3;3 at 4;");
}

TEST(BytesInFlight, WhatIsFetchedBeforeItsMoveBeganStays) {
  TestStep step(kTwoIdle);
  step.problem.machine.most_bytes_in_flight = 6;
  step.problem.machine.tiers[0].write_bytes_per_second = 0.1;
  const Timeline timeline = step.run(
      "move a.0 host after 1\nmove b.0 host after 1\n"
      "fetch b.0 issue 2 need 5\nfetch a.0 issue 4 need 4\n");
  EXPECT_EQ(actions_done(timeline), "0 at 1;3 at 4;");
  EXPECT_EQ(timeline.links[0].bytes, 4);
}

TEST(BytesInFlight, AtTheEndOfTheStepNothingWaitsAnyMore) {
  TestStep step(R"(
storage v 4 parameter start end
storage w 4 parameter start end
storage d 1 activation end
op f forward : v w -> d
)");
  step.problem.machine.most_bytes_in_flight = 4;
  const Timeline timeline = step.run(
      "starts v host\nstarts w host\nfetch v.0 issue 0 need 0\nfetch w.0 issue 0 need 0\n"
      "move v.0 host after 0\nmove w.0 host after 0\n");
  EXPECT_EQ(actions_done(timeline), "0 at 0;1 at 0;2 at 0;3 at 1;");
  EXPECT_EQ(timeline.links[0].bytes, 8);
}

// --- A device that copies by itself. ---

TEST(CopiesByTheDevice, TakeItsTime) {
  TestStep step(kIdle);
  const char* const plan = "move a.0 host after 1\nfetch a.0 issue 3 need 4\n";
  EXPECT_EQ(step.run(plan).seconds, 23);
  step.problem.machine.tiers[0].copies_beside_work = false;
  const Timeline timeline = step.run(plan);
  EXPECT_EQ(step.stalls(timeline), "copy a.0 at 1 for 4;copy a.0 at 3 for 4;");
  EXPECT_EQ(timeline.seconds, 31);
  ASSERT_EQ(timeline.departures.size(), 1U);
  EXPECT_EQ(timeline.departures.front().op, OpId{1}) << "it has left at once";
}

TEST(CopiesByTheDevice, GoOnWithADiskBesideTheWork) {
  TestStep step(kIdle);
  step.problem.machine.tiers[0].copies_beside_work = false;
  const Timeline timeline = step.run("move a.0 disk after 1\nfetch a.0 issue 3 need 4\n");
  // To the host 2-6, to the disk 6-14 beside op 2, 6-16; asked for at 16, read until 24 beside op
  // 3, 16-26; to the device 26-30.
  EXPECT_EQ(step.stalls(timeline), "copy a.0 at 1 for 4;copy a.0 at 4 for 4;");
  EXPECT_EQ(timeline.seconds, 31);
}

}  // namespace
}  // namespace lowtide::sim
