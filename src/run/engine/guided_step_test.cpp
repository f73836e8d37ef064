// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/guided_step.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace lowtide::engine {
namespace {

StepScript script_of(std::initializer_list<std::uint64_t> signatures) {
  StepScript script;
  for (const std::uint64_t signature : signatures) script.lines.push_back({.signature = signature});
  return script;
}

TEST(StepScript, ShapeTellsStepsApart) {
  const StepScript one = script_of({1, 2, 3});
  EXPECT_EQ(one.shape(), script_of({1, 2, 3}).shape());
  EXPECT_NE(one.shape(), script_of({1, 3, 2}).shape());
  EXPECT_NE(one.shape(), script_of({1, 2}).shape());
}

TEST(StepScript, BeginsAsAnother) {
  const StepScript one = script_of({1, 2, 3});
  EXPECT_TRUE(one.begins_as(script_of({1, 2, 4}), 2));
  EXPECT_FALSE(one.begins_as(script_of({1, 2, 4}), 3));
  EXPECT_FALSE(one.begins_as(script_of({1, 2}), 3));
  EXPECT_TRUE(one.begins_as(script_of({9}), 0));
}

// w -> a -> b, b overwritten by c in place, and d reads all of it.
std::shared_ptr<const Trace> small_trace() {
  TraceBuilder builder("small");
  const auto storage = [&](const char* name, bool is_there) {
    Storage made;
    made.name = name;
    made.bytes = 10;
    made.at_start = is_there;
    made.at_end = is_there;
    return builder.add_storage(std::move(made));
  };
  const StorageId w = storage("w", true);
  const StorageId a = storage("a", false);
  const StorageId b = storage("b", false);
  const StorageId d = storage("d", false);
  builder.add_op({.name = "make_a", .reads = {{w}}, .writes = {{a}}});
  builder.add_op({.name = "make_b", .reads = {{a}}, .writes = {{b}}});
  builder.add_op({.name = "change_b", .reads = {{b}}, .writes = {{b}}});
  builder.add_op({.name = "use", .reads = {{b}}, .writes = {{d}}});
  return std::make_shared<const Trace>(builder.build());
}

GuidedStep guided(std::vector<Action> actions) {
  const auto trace = small_trace();
  Plan plan;
  plan.actions = std::move(actions);
  return {CapturedStep{.trace = trace, .script = script_of({1, 2, 3, 4})}, std::move(plan)};
}

TEST(GuidedStep, RepeatsWhatThePlanRunsAndTheMakersOfWhatThatOverwrites) {
  const GuidedStep step = guided({lowtide::Run{.op = OpId{2}, .before = OpId{3}}});
  EXPECT_FALSE(step.is_repeated(0));
  EXPECT_TRUE(step.is_repeated(1)) << "its result is what op 2 changes";
  EXPECT_TRUE(step.is_repeated(2));
  EXPECT_FALSE(step.is_repeated(3));
}

TEST(GuidedStep, CanMakeAgainWhatThePlanDropsForGood) {
  const std::shared_ptr<const Trace> trace = small_trace();
  const ValueId a = trace->writes(OpId{0}).front().value;
  const GuidedStep step = guided({Drop{.value = a, .op = OpId{1}}});
  EXPECT_TRUE(step.is_repeated(0));
  EXPECT_FALSE(step.is_repeated(1));
}

TEST(GuidedStep, KnowsWhatThePlanDropsWhenItHasDied) {
  const std::shared_ptr<const Trace> trace = small_trace();
  const ValueId a = trace->writes(OpId{0}).front().value;
  const ValueId b = trace->writes(OpId{1}).front().value;
  const GuidedStep step = guided({lowtide::Run{.op = OpId{1}, .before = OpId{3}},
                                  Drop{.value = b, .op = OpId{3}, .side = Drop::Side::kBefore},
                                  Drop{.value = a, .op = OpId{0}}});
  EXPECT_TRUE(step.is_dropped_dead(b)) << "op 2 has overwritten it";
  EXPECT_FALSE(step.is_dropped_dead(a));
}

TEST(GuidedStep, KnowsTheLastReplayThatReadsWhatAnOpMade) {
  const GuidedStep step = guided({lowtide::Run{.op = OpId{0}, .before = OpId{3}},
                                  lowtide::Run{.op = OpId{1}, .before = OpId{3}},
                                  lowtide::Run{.op = OpId{2}, .before = OpId{3}}});
  const auto readers = step.last_readers(step.schedule().at(3).prelude);
  EXPECT_EQ(readers.at(OpId{0}), 1);
  EXPECT_EQ(readers.at(OpId{1}), 2);
  EXPECT_FALSE(readers.contains(OpId{2}));
}

TEST(GuidedStep, KnowsHowLongAnOpsResultsAreHeld) {
  const std::shared_ptr<const Trace> trace = small_trace();
  const ValueId a = trace->writes(OpId{0}).front().value;
  const GuidedStep step = guided({Hold{.value = a, .until = OpId{2}, .from = OpId{1}}});
  EXPECT_EQ(step.held_until(OpId{0}, 1), 2);
  EXPECT_EQ(step.held_until(OpId{0}, 3), -1);
  EXPECT_EQ(step.held_until(OpId{1}, 1), -1);
}

TEST(GuidedStep, IsNotQuietWhereSomethingLeaves) {
  const std::shared_ptr<const Trace> trace = small_trace();
  const ValueId a = trace->writes(OpId{0}).front().value;
  Plan plan;
  plan.actions = {Move{.value = a, .tier = TierId{0}, .after = OpId{1}, .codec = {}}};
  const GuidedStep step({.trace = trace, .script = script_of({1, 2, 3, 4})}, std::move(plan),
                        {{.value = a, .op = OpId{3}}});
  EXPECT_TRUE(step.departed_in(2).empty());
  ASSERT_EQ(step.departed_in(3).size(), 1U);
  EXPECT_EQ(step.departed_in(3).front(), a);
  EXPECT_FALSE(step.is_quiet(3));
}

// Makes a, looks at it in three ways, and uses it.
std::shared_ptr<const Trace> trace_with_views() {
  TraceBuilder builder("views");
  Storage made;
  made.name = "a";
  made.bytes = 10;
  const StorageId a = builder.add_storage(made);
  made.name = "b";
  const StorageId b = builder.add_storage(made);
  builder.add_op({.name = "make_a", .writes = {{a}}});
  for (int i = 0; i < 3; ++i) builder.add_op({.name = "view", .views = {a}});
  builder.add_op({.name = "use", .reads = {{a}}, .writes = {{b}}});
  return std::make_shared<const Trace>(builder.build());
}

TEST(GuidedStep, CountsTheViewsThatNothingIsDoneAt) {
  const std::shared_ptr<const Trace> trace = trace_with_views();
  const auto counts = [&](std::vector<Action> actions) {
    Plan plan;
    plan.actions = std::move(actions);
    const GuidedStep step({.trace = trace, .script = script_of({1, 2, 2, 2, 3})}, std::move(plan));
    std::vector<int> views;
    for (std::size_t op = 0; op <= 5; ++op) views.push_back(step.quiet_views_from(op));
    return views;
  };
  EXPECT_EQ(counts({}), (std::vector<int>{0, 3, 2, 1, 0, 0}));
  const ValueId a = trace->writes(OpId{0}).front().value;
  const Move move = {.value = a, .tier = TierId{0}, .after = OpId{2}, .codec = {}};
  EXPECT_EQ(counts({move}), (std::vector<int>{0, 1, 0, 1, 0, 0}));
}

TEST(GuidedStep, HoldsBeginWhereTheirValueIsMade) {
  const std::shared_ptr<const Trace> trace = small_trace();
  const ValueId a = trace->writes(OpId{0}).front().value;
  const GuidedStep step = guided({Hold{.value = a, .until = OpId{3}}});
  ASSERT_EQ(step.holds_from(0).size(), 1U);
  EXPECT_EQ(step.holds_from(0).front().value, a);
  EXPECT_TRUE(step.holds_from(1).empty());
}

}  // namespace
}  // namespace lowtide::engine
