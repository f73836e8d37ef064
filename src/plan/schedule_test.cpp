// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/fixture_test.h"

namespace lowtide::plan {
namespace {

using testing::ElementsAre;
using Kind = Violation::Kind;

const ValueId kA{1};
const ValueId kB{2};

Schedule schedule_of(std::string_view actions) {
  const Problem problem = problem_of(kChain);
  return Schedule(*problem.trace, plan_of(problem, actions));
}

TEST(Schedule, SortsActionsByTickAndKeepsPlanOrder) {
  const Schedule schedule = schedule_of(
      "move a.0 host after 1\nencode b.0 half after 1\ndrop b.0 before 2\nrun 1 before 2\n"
      "fetch a.0 issue 2 need 3\ndecode b.0 before 2\ndrop c.0 after 2\nrun 2 before end\n");
  EXPECT_EQ(schedule.end(), 4);
  EXPECT_THAT(schedule.at(1).releases, ElementsAre(0, 1));
  EXPECT_THAT(schedule.at(2).prelude, ElementsAre(2, 3));
  EXPECT_THAT(schedule.at(2).issues, ElementsAre(4, 5));
  EXPECT_THAT(schedule.at(3).waits, ElementsAre(4));
  EXPECT_THAT(schedule.at(2).releases, ElementsAre(6));
  EXPECT_THAT(schedule.at(4).prelude, ElementsAre(7));
}

TEST(Schedule, FollowsTheOrder) {
  const Problem problem = problem_of(R"(
storage x 1 input start
storage a 1 activation end
storage b 1 activation end
op f forward : x -> a
op g forward : x -> b
)");
  const Schedule schedule(*problem.trace, plan_of(problem,
                                                  "order 1 0\ndrop b.0 after 1\n"
                                                  "hold a.0 until end\n"));
  EXPECT_THAT(schedule.at(0).releases, ElementsAre(1));
  EXPECT_TRUE(schedule.at(1).releases.empty());
  // A hold without `from` begins with the first tick, not with that of op 0.
  EXPECT_EQ(schedule.held_until(ValueId{1}, 0), 2);
}

TEST(Schedule, HoldCoversItsTicksOnly) {
  const Schedule schedule = schedule_of("hold b.0 from 1 until 3");
  EXPECT_EQ(schedule.held_until(kB, 0), -1);
  EXPECT_EQ(schedule.held_until(kB, 1), 3);
  EXPECT_EQ(schedule.held_until(kB, 3), 3);
  EXPECT_EQ(schedule.held_until(kB, 4), -1);
  EXPECT_EQ(schedule.held_until(kA, 2), -1);
}

TEST(Schedule, OverlappingHoldsCountAsOne) {
  const Schedule schedule =
      schedule_of("hold b.0 from 2 until 3\nhold b.0 from 0 until 2\nhold b.0 from end until end");
  EXPECT_EQ(schedule.held_until(kB, 0), 3);
  EXPECT_EQ(schedule.held_until(kB, 4), 4);
  EXPECT_THAT(schedule.holds_ending(3), ElementsAre(kB));
  EXPECT_THAT(schedule.holds_ending(4), ElementsAre(kB));
}

TEST(Schedule, HoldThatEndsWithinTheNaturalLifeEndsNothing) {
  const Schedule schedule = schedule_of("hold b.0 until 2\nhold b.0 from 3 until 1");
  for (Tick tick = 0; tick <= schedule.end(); ++tick) {
    EXPECT_TRUE(schedule.holds_ending(tick).empty()) << tick;
  }
  EXPECT_EQ(schedule.held_until(kB, 3), -1);
}

TEST(Schedule, KnowsTheChosenImplementation) {
  const Problem problem = problem_of(R"(
storage d 1 activation end
op f forward option=a:1:0 option=b:1:0 : -> d
op g forward : -> d
)");
  const Schedule schedule(*problem.trace, plan_of(problem, "choose 0 b"));
  EXPECT_EQ(schedule.chosen(OpId{0}), 1);
  EXPECT_EQ(schedule.chosen(OpId{1}), -1);
}

struct NameCase {
  const char* name;
  Action action;
  // Nothing for a good one.
  std::optional<Kind> kind;
};

std::ostream& operator<<(std::ostream& out, const NameCase& row) { return out << row.name; }

class Names : public testing::TestWithParam<NameCase> {};

TEST_P(Names, AreChecked) {
  const Problem problem = problem_of(kChain);
  const std::optional<Violation> found = check_names(problem, GetParam().action);
  ASSERT_EQ(found.has_value(), GetParam().kind.has_value()) << (found ? found->message : "");
  if (!found) return;
  EXPECT_EQ(to_string(found->kind), to_string(*GetParam().kind));
}

const OpId kOp{1};
const OpId kEnd{4};
const OpId kBeyond{5};
const TierId kHost{0};
constexpr auto kBefore = Drop::Side::kBefore;

INSTANTIATE_TEST_SUITE_P(
    Rows, Names,
    testing::Values(NameCase{"drop", Drop{kA, kOp}, {}},
                    NameCase{"drop_before_the_end", Drop{kA, kEnd, kBefore}, {}},
                    NameCase{"drop_after_the_end", Drop{kA, kEnd}, Kind::kBadPosition},
                    NameCase{"drop_beyond", Drop{kA, kBeyond, kBefore}, Kind::kUnknownName},
                    NameCase{"drop_of_nothing", Drop{ValueId{}, kOp}, Kind::kUnknownName},
                    NameCase{"drop_of_the_value_after_the_last", Drop{ValueId{5}, kOp},
                             Kind::kUnknownName},
                    NameCase{"hold", Hold{kA, kEnd}, {}},
                    NameCase{"hold_from_the_end", Hold{kA, kEnd, kEnd}, {}},
                    NameCase{"hold_beyond", Hold{kA, kBeyond}, Kind::kUnknownName},
                    NameCase{"hold_from_nowhere", Hold{kA, kEnd, OpId{}}, Kind::kUnknownName},
                    NameCase{"run", Run{kOp, kEnd}, {}},
                    NameCase{"run_of_the_end", Run{kEnd, kEnd}, Kind::kBadPosition},
                    NameCase{"run_beyond", Run{kOp, kBeyond}, Kind::kUnknownName},
                    NameCase{"move", Move{kA, kHost, kOp, "half"}, {}},
                    NameCase{"move_at_the_end", Move{kA, kHost, kEnd, ""}, Kind::kBadPosition},
                    NameCase{"move_to_no_tier", Move{kA, TierId{2}, kOp, ""}, Kind::kUnknownName},
                    NameCase{"move_with_no_codec", Move{kA, kHost, kOp, "zip"}, Kind::kUnknownName},
                    NameCase{"fetch", Fetch{kA, kEnd, kEnd}, {}},
                    NameCase{"fetch_beyond", Fetch{kA, kOp, kBeyond}, Kind::kUnknownName},
                    NameCase{"encode", Encode{kA, "half", kOp}, {}},
                    NameCase{"encode_without_codec", Encode{kA, "", kOp}, Kind::kUnknownName},
                    NameCase{"encode_at_the_end", Encode{kA, "half", kEnd}, Kind::kBadPosition},
                    NameCase{"decode", Decode{kA, kEnd}, {}},
                    NameCase{"decode_beyond", Decode{kA, kBeyond}, Kind::kUnknownName},
                    NameCase{"choose_of_none", Choose{kOp, 0}, Kind::kUnknownName},
                    NameCase{"choose_at_the_end", Choose{kEnd, 0}, Kind::kBadPosition},
                    NameCase{"place", Place{kA, {}, 0}, {}},
                    NameCase{"place_in_a_pool", Place{kA, 1, {}}, {}},
                    NameCase{"place_in_both", Place{kA, 1, 0}, Kind::kBadPosition},
                    NameCase{"place_in_neither", Place{kA, {}, {}}, Kind::kBadPosition},
                    NameCase{"place_below_zero", Place{kA, {}, -1}, Kind::kBadPosition}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(CheckNames, OfStartsAreChecked) {
  const Problem problem = problem_of(kChain);
  EXPECT_FALSE(check_names(problem, StartsIn{StorageId{0}, kHost}));
  EXPECT_TRUE(check_names(problem, StartsIn{StorageId{5}, kHost}));
  EXPECT_TRUE(check_names(problem, StartsIn{StorageId{0}, TierId{}}));
}

TEST(CheckNames, HostImplementationNeedsAHostTier) {
  Problem problem =
      problem_of("storage d 1 activation end\nop f other option=cpu:1:0:host : -> d\n");
  EXPECT_FALSE(check_names(problem, Choose{OpId{0}, 0}));
  problem.machine.tiers.clear();
  EXPECT_TRUE(check_names(problem, Choose{OpId{0}, 0}));
}

}  // namespace
}  // namespace lowtide::plan
