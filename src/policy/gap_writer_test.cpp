// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/gap_writer.h"

#include <gtest/gtest.h>

#include "plan/bounds.h"
#include "sim/test_step.h"

namespace lowtide::policy {
namespace {

using sim::TestStep;

// A step with decisions that tests write by name.
class Gaps {
 public:
  explicit Gaps(std::string_view trace_lines)
      : step_(trace_lines),
        lifetimes_(*step_.problem.trace),
        costs_(*step_.problem.trace, step_.problem.machine) {}

  Gaps& drop(const char* value, trace::Tick after) {
    decisions.drops.push_back({step_.value(value), after});
    return *this;
  }
  Gaps& swap(const char* value, trace::Tick after, trace::Tick issue, trace::Tick need) {
    decisions.swaps.push_back({step_.value(value), TierId{0}, after, issue, need});
    return *this;
  }
  Gaps& hold(const char* value, trace::Tick until) {
    decisions.holds.push_back({step_.value(value), until});
    return *this;
  }
  Gaps& start_in_host(const char* value) {
    decisions.starts.push_back({step_.problem.trace->value(step_.value(value)).storage, TierId{0}});
    return *this;
  }
  Gaps& keep() {
    decisions.keep_replayed = [](ValueId, trace::Tick, trace::Tick) { return true; };
    return *this;
  }

  std::optional<WrittenPlan> write(std::int64_t max_replays = 100) const {
    return write_gaps(step_.problem, lifetimes_, costs_, decisions, max_replays);
  }

  // The actions of the plan, checked; "nothing" if there is none.
  std::string actions() const {
    const std::optional<WrittenPlan> written = write();
    if (!written) return "nothing";
    const Plan plan = finish_plan(step_.problem, "test", *written);
    EXPECT_EQ(step_.faults(plan), "");
    EXPECT_EQ(verify(step_.problem, plan).peak_bytes, written->peak_bytes);
    return step_.actions(plan);
  }

  const TestStep& step() const { return step_; }
  std::string name(ValueId value) const { return step_.name(value); }

  GapDecisions decisions;

 private:
  TestStep step_;
  trace::Lifetimes lifetimes_;
  cost::CostTable costs_;
};

constexpr std::string_view kChain = R"(
storage w 1 parameter start end
storage a 4 activation
storage b 4 activation
storage c 4 activation
storage d 1 activation end
op fa forward : w -> a
op fb forward : a -> b
op fc forward : b -> c
op gc backward : c -> d
op gb backward : b d -> d
op ga backward : a d -> d
)";

TEST(GapWriter, WithoutDecisionsThePlanIsEmptyAndTakesThePlainBytes) {
  const Gaps gaps(kChain);
  EXPECT_EQ(gaps.actions(), "");
  const plan::MemoryBounds bounds =
      plan::memory_bounds(*gaps.step().problem.trace, gaps.step().problem.machine);
  std::vector<std::int64_t> ticks = gaps.write()->tick_bytes;
  // w and d at the end of the step.
  EXPECT_EQ(ticks.back(), 2);
  ticks.pop_back();
  EXPECT_EQ(ticks, bounds.plain_bytes);
  EXPECT_EQ(ticks, (std::vector<std::int64_t>{5, 9, 13, 14, 10, 6}));
}

TEST(GapWriter, ReplaysComeInOrderOfExecutionAndWhatNobodyReadsNowGoesAgain) {
  Gaps gaps(kChain);
  gaps.drop("a.0", 1).drop("b.0", 2);
  EXPECT_EQ(gaps.actions(),
            "drop a.0 after 1\ndrop b.0 after 2\n"
            "run 0 before 4\nrun 1 before 4\ndrop a.0 before 4\nrun 0 before 5\n");
  const std::optional<WrittenPlan> written = gaps.write();
  EXPECT_EQ(written->replays, 3);
  EXPECT_EQ(written->replay_seconds, 3);
  // Tick 4: w d, then a, b.
  EXPECT_EQ(written->tick_bytes, (std::vector<std::int64_t>{5, 9, 9, 6, 10, 6, 2}));
}

TEST(GapWriter, WhatIsKeptAfterAReplayServesItsNextReader) {
  Gaps gaps(kChain);
  gaps.drop("a.0", 1).drop("b.0", 2);
  std::string asked;
  gaps.decisions.keep_replayed = [&](ValueId value, trace::Tick first, trace::Tick last) {
    asked += gaps.name(value) + " in " + std::to_string(first) + ".." + std::to_string(last) + ";";
    return true;
  };
  EXPECT_EQ(gaps.actions(), "drop a.0 after 1\ndrop b.0 after 2\nrun 0 before 4\nrun 1 before 4\n");
  EXPECT_EQ(asked, "a.0 in 0..1;");
}

TEST(GapWriter, AnOpIsReplayedOnceATickForAllWhoNeedIt) {
  Gaps gaps(R"(
storage w 1 parameter start end
storage a 4 activation
storage b 4 activation
storage c 4 activation
storage d 1 activation end
op fa forward : w -> a
op fb forward : a -> b
op fc forward : a -> c
op g backward : c b -> d
)");
  gaps.drop("c.0", 2).drop("b.0", 1);
  // a is dead by then: it goes by itself after its last reader.
  EXPECT_EQ(gaps.actions(),
            "drop b.0 after 1\ndrop c.0 after 2\nrun 0 before 3\nrun 1 before 3\nrun 2 before 3\n");
}

// f makes p and q; r comes from p.
constexpr std::string_view kSiblings = R"(
storage w 1 parameter start end
storage p 4 activation
storage q 4 activation
storage r 4 activation
storage d 1 activation end
op f forward : w -> p q
op g forward : p -> r
op h backward : q r -> d
op i backward : q p d -> d
)";

TEST(GapWriter, ASiblingThatComesBackWithAReplayGoesAgainOrIsKept) {
  Gaps gaps(kSiblings);
  gaps.drop("p.0", 1).drop("q.0", 1);
  EXPECT_EQ(gaps.actions(),
            "drop p.0 after 1\ndrop q.0 after 1\nrun 0 before 2\ndrop p.0 before 2\n"
            "run 0 before 3\n");
  EXPECT_EQ(gaps.keep().actions(), "drop p.0 after 1\ndrop q.0 after 1\nrun 0 before 2\n");
}

TEST(GapWriter, ASiblingThatNeverLeftStays) {
  Gaps gaps(kSiblings);
  gaps.drop("q.0", 1).drop("r.0", 1);
  EXPECT_EQ(gaps.actions(), "drop q.0 after 1\ndrop r.0 after 1\nrun 0 before 2\nrun 1 before 2\n");
}

TEST(GapWriter, ASwappedInputComesBackForAReplayAndLeavesAgain) {
  Gaps gaps(kChain);
  gaps.swap("a.0", 1, 5, 5).drop("b.0", 2);
  EXPECT_EQ(gaps.actions(),
            "move a.0 host after 1\ndrop b.0 after 2\n"
            "fetch a.0 issue 4 need 4\nrun 1 before 4\nmove a.0 host after 4\n"
            "fetch a.0 issue 5 need 5\n");
}

TEST(GapWriter, ASwappedInputOnItsWayIsWaitedForEarlier) {
  Gaps gaps(kChain);
  gaps.swap("a.0", 1, 3, 5).drop("b.0", 2);
  EXPECT_EQ(gaps.actions(),
            "move a.0 host after 1\ndrop b.0 after 2\n"
            "fetch a.0 issue 3 need 4\nrun 1 before 4\n");
}

TEST(GapWriter, AFetchTakesItsBytesFromItsIssueOn) {
  Gaps gaps(kChain);
  gaps.swap("a.0", 1, 3, 5);
  EXPECT_EQ(gaps.actions(), "move a.0 host after 1\nfetch a.0 issue 3 need 5\n");
  EXPECT_EQ(gaps.write()->tick_bytes, (std::vector<std::int64_t>{5, 9, 9, 14, 10, 6, 2}));
}

TEST(GapWriter, AHeldValueServesReplaysPastItsDeath) {
  Gaps gaps(R"(
storage x 1 input start
storage a 4 activation
storage t 4 activation
storage d 1 activation end
op f forward : x -> a free x
op g forward : -> t
op h backward : a -> d
op i backward : d -> d
)");
  gaps.drop("a.0", 0);
  EXPECT_EQ(gaps.actions(), "nothing");
  EXPECT_EQ(gaps.hold("x.0", 2).actions(), "hold x.0 until 2\ndrop a.0 after 0\nrun 0 before 2\n");
  // x and t; x, a and d; then x is gone.
  EXPECT_EQ(gaps.write()->tick_bytes, (std::vector<std::int64_t>{5, 5, 6, 1, 1}));
}

TEST(GapWriter, AReplayedValueThatIsHeldStaysForTheNextReplay) {
  Gaps gaps(R"(
storage w 1 parameter start end
storage a 4 activation
storage b 4 activation
storage c 4 activation
storage d 1 activation end
op fa forward : w -> a
op fb forward : a -> b
op fc forward : a -> c
op gb backward : b -> d
op gc backward : c d -> d
)");
  gaps.drop("a.0", 1).drop("b.0", 2).drop("c.0", 2);
  const std::string dropped =
      "drop a.0 after 1\nrun 0 before 2\ndrop b.0 after 2\ndrop c.0 after 2\n";
  EXPECT_EQ(gaps.actions(),
            dropped + "run 0 before 3\nrun 1 before 3\nrun 0 before 4\nrun 2 before 4\n");
  // Held, a does not die with tick 2 any more.
  EXPECT_EQ(gaps.hold("a.0", 4).drop("a.0", 2).actions(),
            "hold a.0 from 2 until 4\ndrop a.0 after 1\nrun 0 before 2\n"
            "drop b.0 after 2\ndrop c.0 after 2\ndrop a.0 after 2\n"
            "run 0 before 3\nrun 1 before 3\nrun 2 before 4\n");
}

TEST(GapWriter, AHoldThatEndsWithTheNaturalLifeIsNotWritten) {
  Gaps gaps(kChain);
  EXPECT_EQ(gaps.hold("c.0", 3).actions(), "");
}

TEST(GapWriter, AResultTakesBytesOfItsOwnBesideWhatIsHeld) {
  Gaps gaps(R"(
storage w 1 parameter start end
storage a 4 activation
storage b 1 activation end
op f forward : w -> a
op relu_ forward : a -> a
op g forward : a -> b
)");
  EXPECT_EQ(gaps.write()->peak_bytes, 6);
  EXPECT_EQ(gaps.hold("a.0", 2).actions(), "hold a.0 from 1 until 2\n");
  EXPECT_EQ(gaps.write()->peak_bytes, 10);
}

TEST(GapWriter, SurvivorsAreComputedAgainAtTheEnd) {
  Gaps gaps(R"(
storage w 1 parameter start end
storage a 4 activation
storage d 4 activation end
op f forward : w -> a
op g forward : a -> d
op h forward : w ->
)");
  gaps.drop("d.0", 1);
  EXPECT_EQ(gaps.actions(), "drop d.0 after 1\nrun 0 before end\nrun 1 before end\n");
}

TEST(GapWriter, ASurvivorMayEndInATier) {
  Gaps gaps(kChain);
  gaps.swap("d.2", 5, 7, 7);
  EXPECT_EQ(gaps.actions(), "move d.2 host after 5\n");
}

TEST(GapWriter, AStorageMayStartInATier) {
  Gaps gaps("storage w 4 parameter start end\nstorage d 1 activation end\nop f forward : w -> d\n");
  gaps.start_in_host("w.0").swap("w.0", -1, 0, 0).swap("w.0", 0, 2, 2);
  EXPECT_EQ(gaps.actions(), "starts w host\nfetch w.0 issue 0 need 0\nmove w.0 host after 0\n");
}

struct Impossible {
  const char* name;
  const char* value;
  const char* trace;
};

TEST(GapWriter, NothingIsWrittenWhenAReplayIsImpossible) {
  const Impossible cases[] = {{"an op that runs once", "a.0", R"(
storage w 1 parameter start end
storage a 4 activation
op f forward once : w -> a
op g forward : a ->
)"},
                              {"a source", "w.0", R"(
storage w 1 parameter start
op f forward : w ->
op g forward : w ->
)"},
                              {"an input that was overwritten", "a.0", R"(
storage x 1 state start end
storage a 4 activation
op f forward : x -> a
op u other once : x -> x
op g forward : a ->
)"},
                              {"an input that was released", "a.0", R"(
storage x 1 input start
storage a 4 activation
op f forward : x -> a free x
op g forward : a ->
)"}};
  for (const Impossible& c : cases) {
    Gaps gaps(c.trace);
    EXPECT_EQ(gaps.drop(c.value, 0).actions(), "nothing") << c.name;
  }
}

TEST(GapWriter, NothingIsWrittenWhenThereAreTooManyReplays) {
  Gaps gaps(kChain);
  gaps.drop("a.0", 1).drop("b.0", 2);
  EXPECT_FALSE(gaps.write(2));
  EXPECT_TRUE(gaps.write(3));
}

TEST(GapWriter, SideEffectsOfAReplayTakeScratchBytes) {
  Gaps gaps(R"(
storage w 1 parameter start end
storage s 2 state start end
storage a 4 activation
storage d 1 activation end
op batch_norm forward workspace=3 : w ~s -> a ~s
op h backward : a -> d
)");
  gaps.drop("a.0", 0);
  EXPECT_EQ(gaps.actions(), "drop a.0 after 0\nrun 0 before 1\n");
  // w s and a, workspace, scratch of s.
  EXPECT_EQ(gaps.write()->tick_bytes, (std::vector<std::int64_t>{10, 12, 4}));
}

TEST(GapWriter, AnOpOnTheHostWorksInHostMemory) {
  // The state never leaves it, the parameter goes over and comes back.
  // Its workspace does not count.
  Gaps gaps(R"(
storage p 4 parameter start end
storage m 8 state start end
storage g 3 gradient
op f forward : p ->
op b backward : p -> g
op adam optimizer once workspace=100 option=cpu:2:50:host : p g m -> p m
op last other : ->
)");
  gaps.decisions.on_host.push_back({OpId{2}, 0});
  gaps.start_in_host("m.0");
  gaps.swap("m.0", -1, 5, 5).swap("p.0", 1, 5, 5).swap("g.0", 1, 5, 5).swap("p.1", 2, 3, 4);
  EXPECT_EQ(gaps.actions(),
            "starts m host\nchoose 2 cpu\nmove p.0 host after 1\nmove g.0 host after 1\n"
            "fetch p.1 issue 3 need end\n");
  EXPECT_EQ(gaps.write()->tick_bytes, (std::vector<std::int64_t>{4, 7, 0, 4, 4}));
}

TEST(GapWriter, FinishedPlanIsBoundToItsProblem) {
  const Gaps gaps(kChain);
  const Plan plan = finish_plan(gaps.step().problem, "someone", *gaps.write());
  EXPECT_EQ(plan.policy, "someone");
  EXPECT_EQ(plan.budget_bytes, gaps.step().problem.budget_bytes);
  EXPECT_EQ(plan.trace_digest, digest(*gaps.step().problem.trace));
}

}  // namespace
}  // namespace lowtide::policy
