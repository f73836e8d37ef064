// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/test_run.h"

namespace lowtide::report {
namespace {

using testing::HasSubstr;

std::string text_of(const RunRecord& record, const std::vector<Alternative>& prices = {}) {
  const Study result = study(record, 0.5);
  std::string text;
  for (const Advice& advice : advise(result, explain_peak(result.plain), prices)) {
    text += advice.title + ": " + advice.reason + "\n";
  }
  return text;
}

// Fixed: 10 bytes; grows with the batch: 80, ten an example.
constexpr std::string_view kBatchStep = R"(
storage w 10 parameter start end
storage a 40 activation
storage b 40 activation
storage c 1 activation end
op f0 forward : w -> a
op f1 forward : a -> b
op f2 forward device=1000 : b -> c
op b0 backward : a b -> c
)";

TEST(Advice, NamesTheBatchThatFitsAsItIs) {
  RunRecord record = test_record(kBatchStep, {}, 61);
  record.batch = 8;
  EXPECT_THAT(text_of(record), HasSubstr("A batch of 5 instead of 8"));
  record.batch = 0;
  EXPECT_THAT(text_of(record), Not(HasSubstr("A batch of"))) << "nobody knows what it was";
}

TEST(Advice, SuggestsMixedPrecisionOnlyWhereNoParameterIsCast) {
  EXPECT_THAT(text_of(test_record(kBatchStep, {}, 61)), HasSubstr("Mixed precision"));
  std::string cast(kBatchStep);
  cast.replace(cast.find("op f0"), 5, "op _to_copy");
  EXPECT_THAT(text_of(test_record(cast, {}, 61)), Not(HasSubstr("Mixed precision")));
}

TEST(Advice, OfAnotherBudgetComesFromThePrices) {
  const RunRecord record = test_record(kIdleStep, {}, 16);
  const Study result = study(record, 0.5);
  ASSERT_TRUE(result.planned);
  const double now = result.after().timeline.seconds;
  std::vector<Alternative> prices(2);
  prices[0].budget_bytes = 14;
  prices[0].seconds = now;
  prices[1].budget_bytes = 18;
  prices[1].seconds = now * 0.5;
  const std::string text = text_of(record, prices);
  EXPECT_THAT(text, HasSubstr("A budget of 18 B: 2 B more would save"));
  EXPECT_THAT(text, HasSubstr("14 B would do, too: That frees 2 B and costs no time."));
  prices[0].seconds = now * 1.0001;
  EXPECT_THAT(text_of(record, prices), HasSubstr("a step (less than 0.1 %)"));
  prices[0].seconds = now * 1.5;
  prices[1].seconds = now * 0.999;
  EXPECT_THAT(text_of(record, prices), Not(HasSubstr("18 B")));
  EXPECT_THAT(text_of(record, prices), Not(HasSubstr("14 B")));
}

TEST(Advice, OfWorkspacesMeansTheOpsOwn) {
  EXPECT_THAT(text_of(test_record(kIdleStep, {}, 16)),
              HasSubstr("Another algorithm for f3 (op 3): Its workspace is 7 B, 35 %"));
  std::string kept(kIdleStep);
  kept.replace(kept.find(" workspace=7"), 12, "");
  kept = "storage v 7 workspace start end pinned\n" + kept.substr(1);
  EXPECT_THAT(text_of(test_record(kept, {}, 16)), Not(HasSubstr("Another algorithm")));
}

TEST(Advice, SaysWhatWouldFitWhereNothingDoes) {
  EXPECT_THAT(text_of(test_record(kBatchStep, {}, 5)), HasSubstr("No plan keeps 5 B"));
}

TEST(Advice, SaysThatNothingIsToBeDoneWhereTheStepFits) {
  const std::string text = text_of(test_record(kBatchStep, {}, 1000));
  EXPECT_THAT(text, HasSubstr("Nothing has to be done"));
  EXPECT_THAT(text, Not(HasSubstr("Mixed precision")));
}

}  // namespace
}  // namespace lowtide::report
