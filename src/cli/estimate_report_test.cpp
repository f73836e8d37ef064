// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/estimate_report.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "trace/text.h"

namespace lowtide::cli {
namespace {

std::shared_ptr<const Trace> step() {
  return std::make_shared<const Trace>(trace::parse_text(R"(lowtide-trace 1
name step
storage w 1000 parameter start end
storage a 40000 activation
storage b 50000 activation
storage g 1000 gradient end
op f forward : w -> a
op h forward : a -> b
op k backward workspace=500 : a b w -> g free a b
)"));
}

EstimatePlace on_cpu(std::int64_t budget_bytes) {
  EstimatePlace place;
  place.budget_bytes = budget_bytes;
  return place;
}

TEST(EstimateReport, FitsWithTheMarginWithoutItOrNotAtAll) {
  // w, a, b, g and the workspace; in the second step also the gradient of the first.
  EXPECT_EQ(estimate_step(step(), on_cpu(92'500)).peaks.steady.allocated_bytes, 92'500);
  EXPECT_EQ(estimate_step(step(), on_cpu(93'425)).fit, Fit::kFits);
  EXPECT_EQ(estimate_step(step(), on_cpu(93'424)).fit, Fit::kFitsWithoutMargin);
  EXPECT_EQ(estimate_step(step(), on_cpu(92'500)).fit, Fit::kFitsWithoutMargin);
  EXPECT_EQ(estimate_step(step(), on_cpu(92'499)).fit, Fit::kDoesNot);
  EXPECT_EQ(estimate_step(step(), on_cpu(0)).fit, Fit::kNotAsked);
}

TEST(EstimateReport, TableAndJsonSayThatTheMarginIsMissing) {
  const StepEstimate tight = estimate_step(step(), on_cpu(92'500));
  EXPECT_NE(estimates_table({tight}, on_cpu(92'500), Style()).find("fits only without the margin"),
            std::string::npos);
  const nlohmann::json document = estimate_json(tight, on_cpu(92'500));
  EXPECT_EQ(document["fit"], "fits only without the margin");
  EXPECT_FALSE(document["fits_with_margin"]);
}

TEST(EstimateReport, TheFirstStepIsToldBesideTheOthers) {
  EstimatePlace gpu;
  gpu.gpu = estimate::gpu_named("t4");
  StepEstimate estimate = estimate_step(step(), gpu);
  estimate.peaks.first.reserved_bytes = 12 << 20;
  EXPECT_EQ(estimate_json(estimate, gpu)["first_step_reserved_peak_bytes"], 12 << 20);
  EXPECT_NE(estimates_table({estimate}, gpu, Style()).find("12.0 MiB"), std::string::npos);
}

TEST(EstimateReport, WhatNoPlanFitsNamesABudgetThatDoes) {
  const StepEstimate refused = estimate_step(step(), on_cpu(60'000));
  ASSERT_EQ(refused.fit, Fit::kDoesNot);
  EXPECT_GT(refused.smallest_budget_bytes, 60'000);
  EXPECT_NE(estimate_step(step(), on_cpu(refused.smallest_budget_bytes)).fit, Fit::kDoesNot);
}

TEST(EstimateReport, JsonHasReservedBytesOnAGpuOnly) {
  EstimatePlace gpu;
  gpu.gpu = estimate::gpu_named("t4");
  EXPECT_EQ(estimate_json(estimate_step(step(), gpu), gpu)["reserved_peak_bytes"], 2 << 20);
  EXPECT_FALSE(
      estimate_json(estimate_step(step(), on_cpu(0)), on_cpu(0)).contains("reserved_peak_bytes"));
}

}  // namespace
}  // namespace lowtide::cli
