// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "base/random.h"
#include "plan/findings.h"
#include "plan/fixture_test.h"

namespace lowtide::plan {
namespace {

using Kind = Violation::Kind;

TEST(Verify, AFaultIsReportedOnceAndNamesOpAndValue) {
  const Problem problem = problem_of(kChain);
  const Verdict verdict = verdict_of(problem, "drop a.0 after 1");
  ASSERT_EQ(verdict.violations.size(), 1U);
  EXPECT_EQ(verdict.violations[0].op, OpId{3});
  EXPECT_EQ(problem.trace->value_name(verdict.violations[0].value), "a.0");
}

TEST(Verify, FetchNeededBeforeItsIssueIsABadPosition) {
  const Problem problem = problem_of(kChain);
  const Verdict verdict = verdict_of(problem, "move a.0 host after 1\nfetch a.0 issue 3 need 2");
  ASSERT_EQ(verdict.violations.size(), 2U);
  EXPECT_EQ(verdict.violations[0].message,
            "the fetch of a.0 is issued before i (op 3) and needed earlier, by h (op 2)");
  EXPECT_EQ(verdict.violations[1].kind, Kind::kNotResident);
}

TEST(Verify, PlanOfAnotherTraceIsRefusedAsAWhole) {
  const Problem problem = problem_of(kChain);
  Plan plan = plan_of(problem, "drop a.0 after 1");
  plan.trace_digest = "0000000000000000";
  const Verdict verdict = verify(problem, plan);
  ASSERT_EQ(verdict.violations.size(), 1U);
  EXPECT_EQ(verdict.violations[0].kind, Kind::kWrongTrace);
}

TEST(Verify, EncodedAtTheEndIsNotEnough) {
  const Problem problem = problem_of(R"(
storage d 4 activation end codec=half:2:0:0
op f forward : -> d
)");
  EXPECT_EQ(violations_of(verdict_of(problem, "encode d.0 half after 0")),
            "encoded: d.0 is still encoded at the end of the step\n");
  EXPECT_TRUE(verdict_of(problem, "encode d.0 half after 0\ndecode d.0 before end").ok());
  EXPECT_TRUE(verdict_of(problem, "move d.0 host after 0 codec half").ok());
}

TEST(Verify, StorageThatStartsPlainInATierMayNotEndThereEncoded) {
  const Problem problem = problem_of(kReadsHost);
  const char* plain = "starts w host\nfetch w.0 issue 0 need 0\nmove w.0 host after 0";
  EXPECT_TRUE(verdict_of(problem, plain).ok());
  const Verdict encoded = verdict_of(problem, std::string(plain) + " codec half");
  ASSERT_EQ(encoded.violations.size(), 1U);
  EXPECT_EQ(encoded.violations[0].kind, Kind::kNotCyclic);
}

TEST(Verify, LossyActionsPassWhereTheProblemAllowsThem) {
  Problem problem = problem_of(kChain);
  problem.allow_lossy = true;
  EXPECT_TRUE(verdict_of(problem, "encode a.0 rough after 1\ndecode a.0 before 3").ok());
  Problem host = problem_of(kOnHost);
  host.allow_lossy = true;
  EXPECT_TRUE(verdict_of(host, "choose 1 fast").ok());
}

TEST(Verify, BudgetIsKeptToTheByte) {
  EXPECT_TRUE(verdict_of(problem_of(kChain, 16), "").ok());
  EXPECT_EQ(violations_of(verdict_of(problem_of(kChain, 15), "")),
            "over_budget: the device holds 16 bytes at h (op 2), 1 more than the budget of 15\n");
  EXPECT_TRUE(verdict_of(problem_of(kChain, 15), "drop a.0 after 1\nrun 0 before 3").ok());
}

TEST(Verify, CapacityOfATierIsKeptToTheByte) {
  const char* actions = "move a.0 host after 1\nfetch a.0 issue 3 need 3";
  Problem problem = problem_of(kChain);
  problem.machine.tiers[0].capacity_bytes = 10;
  EXPECT_TRUE(verdict_of(problem, actions).ok());
  problem.machine.tiers[0].capacity_bytes = 9;
  EXPECT_EQ(violations_of(verdict_of(problem, actions)),
            "over_tier_capacity: tier host holds 10 bytes at g (op 1), 1 more than its capacity of "
            "9\n");
}

TEST(Verify, ActionsWithBadNamesAreReportedAndLeftOut) {
  const Problem problem = problem_of(kChain);
  const Plan good = plan_of(problem, "drop a.0 after 1\nrun 0 before 3");
  for (const Action& wrong : std::vector<Action>{
           Drop{ValueId{99}, OpId{1}}, Hold{ValueId{}, OpId{1}}, lowtide::Run{OpId{-7}, OpId{3}},
           Move{ValueId{0}, TierId{2}, OpId{1}, ""}, Fetch{ValueId{1}, OpId{1}, OpId{5}},
           Encode{ValueId{1}, "none", OpId{1}}, Choose{OpId{0}, 0}}) {
    Plan plan = good;
    plan.actions.insert(plan.actions.begin(), wrong);
    const Verdict verdict = verify(problem, plan);
    ASSERT_EQ(verdict.violations.size(), 1U) << "action " << wrong.index();
    EXPECT_EQ(verdict.violations[0].kind, Kind::kUnknownName);
    EXPECT_EQ(verdict.peak_bytes, 15);
  }
}

TEST(Verify, StopsAfterAHundredViolations) {
  const Problem problem = problem_of(kChain);
  std::string actions;
  for (int i = 0; i < 300; ++i) actions += "drop c.0 after 0\n";
  EXPECT_EQ(verdict_of(problem, actions).violations.size(), Findings::kLimit);
}

TEST(Verify, EmptyTraceHasAnEndAndNothingElse) {
  const Problem problem = problem_of("storage w 3 parameter start end codec=half:1:0:0\n");
  EXPECT_EQ(verdict_of(problem, "").peak_bytes, 3);
  EXPECT_TRUE(verdict_of(problem, "").ok());
  EXPECT_EQ(verdict_of(problem, "drop w.0 before end").violations[0].kind, Kind::kLost);
}

Action random_action(base::Random& random) {
  const auto number = [&random](std::uint64_t range) {
    return static_cast<std::int32_t>(random.below(range)) - 1;
  };
  const ValueId value{number(9)};
  const OpId op{number(7)};
  const OpId other{number(7)};
  const std::vector<std::string> codecs{"", "half", "rough", "none"};
  const std::string& codec = codecs[random.below(codecs.size())];
  switch (random.below(10)) {
    case 0:
      return Drop{value, op, random.below(2) == 0 ? Drop::Side::kAfter : Drop::Side::kBefore};
    case 1:
      return Hold{value, op, other};
    case 2:
      return Run{op, other};
    case 3:
      return Move{value, TierId{number(4)}, op, codec};
    case 4:
      return Fetch{value, op, other};
    case 5:
      return Encode{value, codec, op};
    case 6:
      return Decode{value, op};
    case 7:
      return Choose{op, number(3)};
    case 8:
      return Place{value, {}, std::int64_t{number(30)}};
    default:
      return random.below(10) > 0 ? Action(Run{op, other}) : Action(Order{{op, other}});
  }
}

TEST(Verify, SurvivesAnyPlan) {
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    base::Random random(seed);
    const std::string_view traces[] = {kChain, kOverwrite, kPinned, kOnHost, kReadsHost};
    const Problem problem = problem_of(traces[seed % 5], 20);
    Plan plan;
    plan.trace_digest = digest(*problem.trace);
    for (std::uint64_t i = random.below(20); i > 0; --i) {
      plan.actions.push_back(random_action(random));
    }
    if (random.below(3) == 0) plan.starts.push_back({StorageId{0}, TierId{0}});
    const Verdict verdict = verify(problem, plan);
    EXPECT_LE(verdict.violations.size(), Findings::kLimit) << "seed " << seed;
    EXPECT_GE(verdict.peak_bytes, 0) << "seed " << seed;
  }
}

TEST(Verify, KindsHaveDistinctNames) {
  EXPECT_EQ(to_string(Kind::kWrongTrace), "wrong_trace");
  EXPECT_EQ(to_string(Kind::kNotReplayable), "not_replayable");
  EXPECT_EQ(to_string(Kind::kLossy), "lossy");
}

}  // namespace
}  // namespace lowtide::plan
