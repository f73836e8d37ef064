// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/alternatives.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "report/test_run.h"

namespace lowtide::report {
namespace {

// Ten activations of 100 bytes, each used again on the way back: plenty to move or recompute.
std::string long_step() {
  std::string text = "storage x 100 input start end\n";
  for (int i = 0; i < 10; ++i) text += "storage a" + std::to_string(i) + " 100 activation\n";
  text += "storage g 100 gradient\nstorage y 100 activation end\n";
  for (int i = 0; i < 10; ++i) {
    const std::string from = i == 0 ? "x" : "a" + std::to_string(i - 1);
    text += "op f" + std::to_string(i) + " forward device=50 : " + from + " -> a" +
            std::to_string(i) + "\n";
  }
  text += "op loss forward : a9 -> g\n";
  for (int i = 9; i >= 0; --i) {
    text += "op b" + std::to_string(i) + " backward device=60 : g a" + std::to_string(i) +
            " -> g free a" + std::to_string(i) + "\n";
  }
  return text + "op end optimizer : g -> y\n";
}

TEST(Prices, GoFromTheSmallestBudgetUpToThePlainPeakAndNeverRise) {
  const RunRecord record = test_record(long_step(), {}, 700);
  const Study result = study(record, 0.5);
  ASSERT_TRUE(result.planned);
  const std::vector<Alternative> points = price_budgets(result, 5);
  ASSERT_GE(points.size(), 4U);
  EXPECT_EQ(points.back().budget_bytes, result.memory.plain_peak_bytes);
  EXPECT_EQ(points.back().seconds, result.plain.timeline.seconds);
  EXPECT_EQ(std::count_if(points.begin(), points.end(), [](const auto& p) { return p.is_shown; }),
            1);
  double last = 1e30;
  for (const Alternative& point : points) {
    if (point.refusal) continue;
    EXPECT_LE(point.peak_bytes, point.budget_bytes);
    if (!point.is_shown) {
      EXPECT_LE(point.seconds, last) << point.budget_bytes;
      last = point.seconds;
    }
  }
}

TEST(Prices, OutOfTimeAreOnlyThoseThatAreKnown) {
  const RunRecord record = test_record(long_step(), {}, 700);
  const Study result = study(record, 0.5);
  EXPECT_EQ(price_budgets(result, 0).size(), 2U) << "this budget and none";
}

TEST(Policies, AreSortedByTimeWithRefusalsLast) {
  const RunRecord record = test_record(long_step(), {}, 500);
  const Study result = study(record, 0.5);
  const std::vector<Alternative> compared = compare_policies(result, 10);
  ASSERT_GE(compared.size(), 5U);
  EXPECT_TRUE(std::is_sorted(compared.begin(), compared.end(), [](const auto& a, const auto& b) {
    return std::pair(a.refusal.has_value(), a.refusal ? 0 : a.seconds) <
           std::pair(b.refusal.has_value(), b.refusal ? 0 : b.seconds);
  }));
  EXPECT_EQ(std::count_if(compared.begin(), compared.end(),
                          [](const auto& one) { return one.policy == kPredictingPolicy; }),
            1)
      << "the study's own is not planned again";
}

// What a run was not to do is not predicted, priced or recommended either.
TEST(Policies, DoOnlyWhatTheRunMightDo) {
  for (const policy::AllowedMeans allowed :
       {policy::AllowedMeans{.move = false}, policy::AllowedMeans{.recompute = false}}) {
    RunRecord record = test_record(long_step(), {}, 500);
    record.policy = "online";
    record.allowed = allowed;
    const Study result = study(record, 0.5);
    ASSERT_TRUE(result.planned);
    std::vector<Alternative> found = compare_policies(result, 5);
    EXPECT_GE(found.size(), 4U);
    const std::vector<Alternative> prices = price_budgets(result, 5);
    EXPECT_GE(prices.size(), 3U);
    found.insert(found.end(), prices.begin(), prices.end());
    for (const Alternative& each : found) {
      EXPECT_TRUE(allowed.move || each.moved_bytes == 0) << each.policy;
      EXPECT_TRUE(allowed.recompute || each.recompute_seconds == 0) << each.policy;
    }
  }
}

TEST(Policies, AreNotComparedWithoutABudget) {
  const RunRecord record = test_record(long_step());
  EXPECT_TRUE(compare_policies(study(record, 0.5), 10).empty());
}

}  // namespace
}  // namespace lowtide::report
