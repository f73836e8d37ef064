// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/online_runner.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "sim/test_step.h"

namespace lowtide::sim {
namespace {

// Gives up values in the order of a list; what is not on it comes last.
class InOrder final : public OnlinePolicy {
 public:
  InOrder(const TestStep& step, const std::vector<const char*>& names) {
    for (const char* name : names) order_.push_back(step.value(name));
  }
  Neighbourhood neighbourhood() const override { return Neighbourhood::kNone; }
  double score(const Candidate& candidate) override {
    const auto place = std::find(order_.begin(), order_.end(), candidate.value);
    return static_cast<double>(place - order_.begin());
  }

 private:
  std::vector<ValueId> order_;
};

constexpr OnlineOptions kPlain{.search = VictimSearch::kAll, .ignore_below = 0};

OnlineRun run(const TestStep& step, const std::vector<const char*>& victims = {},
              const OnlineOptions& options = kPlain) {
  InOrder policy(step, victims);
  return run_online(step.problem, policy, options);
}

// The actions of a run that must get through; also checks that they make a right plan.
std::string actions_of(const TestStep& step, const std::vector<const char*>& victims = {},
                       const OnlineOptions& options = kPlain) {
  const OnlineRun result = run(step, victims, options);
  if (!result.plan) return "failed: " + result.failure;
  EXPECT_EQ(step.faults(*result.plan), "");
  return step.actions(*result.plan);
}

// Plain: 11, 13, 16 and 15 bytes.
constexpr std::string_view kChain = R"(
storage w 1 parameter start end
storage a 10 activation
storage b 2 activation
storage c 3 activation
storage d 1 activation end
op f forward : w -> a
op g forward : a -> b
op h forward : b -> c
op i backward : a c -> d
)";

TEST(OnlineRunner, WhatDoesNotFitIsDroppedAndReplayedForItsReader) {
  EXPECT_EQ(actions_of(TestStep(kChain, 16)), "");
  EXPECT_EQ(actions_of(TestStep(kChain, 15)), "drop a.0 before 2\nrun 0 before 3\n");
}

TEST(OnlineRunner, ReplaysAreCountedWithTheirSeconds) {
  std::string slow(kChain);
  slow.replace(slow.find("f forward"), 9, "f forward device=7");
  const OnlineRun result = run(TestStep(slow, 15));
  EXPECT_EQ(result.replays, 1);
  EXPECT_EQ(result.replay_seconds, 7);
}

TEST(OnlineRunner, EvictedInputOfReplayedOpIsReplayedFirst) {
  const TestStep step(R"(
storage w 1 parameter start end
storage a 4 activation
storage b 4 activation
storage c 6 activation
storage d 2 activation
storage e 1 activation end
op fa forward : w -> a
op fb forward : a -> b
op fc forward : b -> c
op fd forward : c -> d
op gb backward : d b -> e
op ga backward : a e -> e
)",
                      12);
  EXPECT_EQ(actions_of(step, {"a.0", "b.0"}),
            "drop a.0 before 2\ndrop b.0 before 3\nrun 0 before 4\nrun 1 before 4\n");
}

TEST(OnlineRunner, TheLowestScoreGoesFirst) {
  constexpr std::string_view kThree = R"(
storage w 1 parameter start end
storage a 4 activation
storage b 4 activation
storage t 4 activation
storage d 1 activation end
op fa forward : w -> a
op fb forward : w -> b
op ft forward : w -> t
op g backward : a b -> d
)";
  // 13 bytes in tick 2; any of the two makes room.
  const TestStep step(kThree, 12);
  EXPECT_EQ(actions_of(step, {"a.0", "b.0"}), "drop a.0 before 2\nrun 0 before 3\n");
  EXPECT_EQ(actions_of(step, {"b.0", "a.0"}), "drop b.0 before 2\nrun 1 before 3\n");
}

constexpr std::string_view kInPlace = R"(
storage w 1 parameter start end
storage a 4 activation
storage t 8 activation
storage d 2 activation end
op f forward : w -> a
op relu_ forward : a -> a
op g forward : w -> t
op h backward : a -> d
)";

TEST(OnlineRunner, InPlaceOpReplaysOnAPrivateCopy) {
  const TestStep step(kInPlace, 9);
  const OnlineRun result = run(step);
  ASSERT_TRUE(result.plan) << result.failure;
  EXPECT_EQ(step.actions(*result.plan), "drop a.1 before 2\nrun 0 before 3\nrun 1 before 3\n");
  // While relu_ is replayed there are w, a.0 and a.1.
  EXPECT_EQ(verify(step.problem, *result.plan).peak_bytes, 9);
  // One byte less leaves no room for the copy.
  std::string smaller(kInPlace);
  smaller.replace(smaller.find("t 8"), 3, "t 7");
  EXPECT_EQ(run(TestStep(smaller, 8)).failure,
            "no room for 4 B at h (op 3) with nothing left to drop");
}

TEST(OnlineRunner, SideEffectsAreNeitherNeededNorYielded) {
  const TestStep step(R"(
storage w 1 parameter start end
storage s 2 state start end
storage a 4 activation
storage t 6 activation
storage d 1 activation end
op batch_norm forward : w ~s -> a ~s
op g forward : w -> t
op h backward : a -> d
)",
                      9);
  const OnlineRun result = run(step);
  ASSERT_TRUE(result.plan) << result.failure;
  EXPECT_EQ(step.actions(*result.plan), "drop a.0 before 1\nrun 0 before 2\n");
  EXPECT_EQ(step.faults(*result.plan), "");
  // The replay works on a scratch copy of s: w s a and 2 more.
  EXPECT_EQ(verify(step.problem, *result.plan).peak_bytes, 9);
}

TEST(OnlineRunner, WhatMayNotBeReplayedOrIsPinnedStays) {
  const char* kReasons[][2] = {{"a 4 activation", "a 4 activation pinned"},
                               {"f forward", "f forward once"}};
  for (const auto& reason : kReasons) {
    std::string trace = R"(
storage w 1 parameter start end
storage a 4 activation
storage t 8 activation
storage d 2 activation end
op f forward : w -> a
op g forward : w -> t
op h backward : a -> d
)";
    EXPECT_EQ(actions_of(TestStep(trace, 12)), "drop a.0 before 1\nrun 0 before 2\n");
    trace.replace(trace.find(reason[0]), std::string(reason[0]).size(), reason[1]);
    EXPECT_EQ(run(TestStep(trace, 12)).failure,
              "no room for 8 B at g (op 1) with nothing left to drop")
        << reason[1];
    EXPECT_EQ(actions_of(TestStep(trace, 13)), "");
  }
}

// b and c come from a, which is dead when both have to be computed again.
constexpr std::string_view kDeadParent = R"(
storage w 1 parameter start end
storage a 4 activation
storage b 4 activation
storage c 4 activation
storage t 12 activation
storage d 1 activation end
op fa forward : w -> a
op fb forward : a -> b
op fc forward : a -> c
op ft forward : w -> t
op gb backward : b -> d
op gc backward : c d -> d
)";

TEST(OnlineRunner, DeadValuesGoRightAfterTheReplaysThatNeededThem) {
  EXPECT_EQ(actions_of(TestStep(kDeadParent, 14), {"b.0", "c.0"}),
            "drop b.0 before 3\ndrop c.0 before 3\nrun 0 before 4\nrun 1 before 4\n"
            "run 0 before 5\nrun 2 before 5\n");
}

TEST(OnlineRunner, DeadValuesThatAreKeptAreHeldAndServeLaterReplays) {
  OnlineOptions keep = kPlain;
  keep.keep_dead = true;
  EXPECT_EQ(actions_of(TestStep(kDeadParent, 14), {"b.0", "c.0"}, keep),
            "drop b.0 before 3\ndrop c.0 before 3\nrun 0 before 4\nrun 1 before 4\n"
            "run 2 before 5\nhold a.0 from 4 until end\n");
}

TEST(OnlineRunner, DeadValuesThatAreKeptGoWhenRoomIsNeeded) {
  OnlineOptions keep = kPlain;
  keep.keep_dead = true;
  // a.0, kept, and a.1 leave 9 of 10 bytes taken, and d wants 2.
  EXPECT_EQ(actions_of(TestStep(kInPlace, 10), {}, keep),
            "drop a.1 before 2\nrun 0 before 3\nrun 1 before 3\n"
            "hold a.0 from 3 until 3\ndrop a.0 before 3\n");
}

TEST(OnlineRunner, SourceReleasedEarlyIsHeldForTheReplaysThatNeedIt) {
  const TestStep step(R"(
storage x 1 input start
storage a 20 activation
storage t 20 activation
storage d 1 activation end
op f forward : x -> a free x
op g forward : -> t
op h backward once : a -> d
)",
                      22);
  EXPECT_EQ(actions_of(step), "hold x.0 until 2\ndrop a.0 before 1\nrun 0 before 2\n");
}

TEST(OnlineRunner, DroppedSurvivorIsComputedAgainAtTheEnd) {
  const TestStep step(R"(
storage w 1 parameter start end
storage d 4 activation end
storage t 8 activation
op f forward : w -> d
op g forward : w -> t
)",
                      9);
  EXPECT_EQ(actions_of(step), "drop d.0 before 1\nrun 0 before end\n");
}

TEST(OnlineRunner, SmallValuesAreLeftAloneWhileThereAreOthers) {
  const TestStep step(R"(
storage w 1 parameter start end
storage a 1 activation
storage b 20 activation
storage t 9 activation
storage d 1 activation end
op fa forward : w -> a
op fb forward : w -> b
op ft forward : w -> t
op g backward : a b -> d
)",
                      30);
  // The mean of what may go is 31 / 4.
  OnlineOptions options = kPlain;
  EXPECT_EQ(actions_of(step, {"a.0"}, options), "drop a.0 before 2\nrun 0 before 3\n");
  options.ignore_below = 0.2;
  EXPECT_EQ(actions_of(step, {"a.0"}, options), "drop b.0 before 2\nrun 1 before 3\n");
}

TEST(OnlineRunner, ABudgetBelowWhatIsThereAtTheStartFails) {
  const OnlineRun result =
      run(TestStep("storage w 5 parameter start end\nop f forward : w ->\n", 4));
  EXPECT_FALSE(result.plan);
  EXPECT_EQ(result.failure, "no room for 5 B at f (op 0) with nothing left to drop");
}

TEST(OnlineRunner, ARunInWhichReplaysExplodeIsGivenUp) {
  // a and t take turns: every reader of a needs a replay, 110 in all.
  std::string trace = "storage w 1 parameter start end\nstorage a 4 activation\n";
  std::string ops = "op f forward : w -> a\n";
  for (int i = 0; i < 110; ++i) {
    const std::string name = "t" + std::to_string(i);
    trace += "storage " + name + " 4 activation\n";
    ops += "op g forward : w -> " + name + "\nop h forward : a ->\n";
  }
  OnlineOptions options = kPlain;
  options.max_replays_per_op = 0;
  const OnlineRun result = run(TestStep(trace + ops, 5), {}, options);
  EXPECT_FALSE(result.plan);
  EXPECT_EQ(result.failure, "replays explode at this budget");
  options.max_replays_per_op = 1;
  EXPECT_EQ(run(TestStep(trace + ops, 5), {}, options).replays, 110);
}

}  // namespace
}  // namespace lowtide::sim
