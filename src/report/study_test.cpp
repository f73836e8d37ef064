// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/study.h"

#include <gtest/gtest.h>

#include "lowtide/errors.h"
#include "report/peak.h"
#include "report/step_data.h"
#include "report/test_run.h"

namespace lowtide::report {
namespace {

constexpr std::string_view kMove = "move a.0 host after 1\nfetch a.0 issue 3 need 4\n";
constexpr double kThink = 1;

TEST(Study, ShowsThePlanThatWasCarriedOut) {
  const RunRecord record = test_record(kIdleStep, kMove, 20);
  const Study result = study(record, kThink);
  EXPECT_EQ(result.plain.timeline.seconds, 23);
  ASSERT_TRUE(result.planned);
  EXPECT_FALSE(result.is_predicted);
  EXPECT_EQ(result.planned->timeline.seconds, 23);
  EXPECT_EQ(result.planned->log.copies.size(), 2U);
}

TEST(Study, ChargesWhatAPlanTakesTheHostToThePlanOnly) {
  RunRecord record = test_record(kIdleStep, kMove, 20);
  record.machine.watch_seconds = 1;
  const Study result = study(record, kThink);
  EXPECT_EQ(result.plain.timeline.seconds, 23);
  EXPECT_EQ(result.planned->timeline.seconds, 24) << "the first op waits for the host";
}

TEST(Study, WithoutAPlanPredictsOne) {
  // The plain peak is 20, while f3 runs; without a it is 16.
  const RunRecord record = test_record(kIdleStep, {}, 16);
  const Study result = study(record, kThink);
  EXPECT_EQ(result.memory.plain_peak_bytes, 20);
  ASSERT_TRUE(result.planned);
  EXPECT_TRUE(result.is_predicted);
  EXPECT_EQ(result.planned->plan.policy, kPredictingPolicy);
  EXPECT_LE(result.planned->timeline.peak_bytes, 16);
}

TEST(Study, WithoutABudgetShowsThePlainStepOnly) {
  const RunRecord record = test_record();
  const Study result = study(record, kThink);
  EXPECT_FALSE(result.planned);
  EXPECT_FALSE(result.refusal);
  EXPECT_EQ(&result.after(), &result.plain);
}

TEST(Study, TellsThatNoPlanFits) {
  const RunRecord record = test_record(kIdleStep, {}, 3);
  const Study result = study(record, kThink);
  EXPECT_FALSE(result.planned);
  ASSERT_TRUE(result.refusal);
  EXPECT_GT(result.refusal->smallest_budget_bytes, 3);
}

TEST(Study, RefusesAPlanThatReadsWhatIsNotThere) {
  const RunRecord record = test_record(kIdleStep, "drop a.0 after 1\n", 20);
  EXPECT_THROW(study(record, kThink), InvalidInput);
}

// An engine may end above a plan's budget; that is no reason to show nothing.
TEST(Study, ShowsAPlanThatEndsAboveItsBudget) {
  const RunRecord record = test_record(kIdleStep, kMove, 5);
  EXPECT_TRUE(study(record, kThink).planned);
}

TEST(Peak, IsThatOfTheTimelineAndNamesWhatLiesThere) {
  const RunRecord record = test_record(kIdleStep, kMove, 20);
  const Study result = study(record, kThink);
  const Peak plain = explain_peak(result.plain);
  EXPECT_EQ(plain.bytes, result.plain.timeline.peak_bytes);
  EXPECT_EQ(plain.op, OpId{3});
  ASSERT_EQ(plain.items.size(), 5U) << "w, a, c, e and the workspace";
  EXPECT_EQ(plain.items[0].kind, StorageKind::kWorkspace);
  EXPECT_EQ(plain.items[0].place, "third");
  EXPECT_EQ(plain.items[1].place, "third") << "e is made there";
  EXPECT_EQ(plain.groups[0].bytes, 7);
  EXPECT_EQ(plain.of(StorageKind::kActivation), 11);
  EXPECT_EQ(explain_peak(*result.planned).bytes, result.planned->timeline.peak_bytes);
}

TEST(Gaps, AreTheDevicesStallsWithTheirCause) {
  const RunRecord record =
      test_record(kIdleStep, "move a.0 host after 1\nfetch a.0 issue 4 need 4\n", 20);
  const Study result = study(record, kThink);
  const std::vector<Gap> gaps = gaps_of(*result.planned);
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].start_seconds, 22);
  EXPECT_EQ(gaps[0].end_seconds, 26);
  EXPECT_EQ(gaps[0].cause, StallCause::kFetch);
  EXPECT_EQ(result.trace().value_name(gaps[0].value), "a.0");
  EXPECT_TRUE(gaps_of(result.plain).empty());
}

}  // namespace
}  // namespace lowtide::report
