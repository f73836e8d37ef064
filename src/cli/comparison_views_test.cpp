// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// The forms of a comparison beside the table: CSV, plot and page.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/comparison_csv.h"
#include "cli/comparison_page.h"
#include "cli/comparison_plot.h"
#include "trace/text.h"

namespace lowtide::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

PlainStep small_step() {
  auto trace = std::make_shared<const Trace>(trace::parse_text(R"(lowtide-trace 1
name a<b
storage x 100 input start end
storage y 100 activation
op f forward device=1 : x -> y free y
)"));
  return PlainStep(std::move(trace), machine_named("unit"));
}

ComparedPlan planned(const char* policy, const char* budget, std::int64_t bytes, double overhead) {
  ComparedPlan plan;
  plan.policy = policy;
  plan.budget = budget;
  plan.budget_bytes = bytes;
  plan.overhead = overhead;
  plan.step_seconds = 1 + overhead;
  return plan;
}

std::vector<ComparedPlan> small_comparison() {
  std::vector<ComparedPlan> plans = {planned("dtr", "80%", 160, 0.02),
                                     planned("capuchin", "80%", 160, 0.5),
                                     planned("dtr", "60%", 120, 0.2)};
  plans[0].is_best = true;
  plans.push_back(planned("capuchin", "60%", 120, 0));
  plans.back().refusal = Refusal{"too <small>, \"really\"", 150};
  plans.back().plan_seconds = 2.5;
  plans.back().was_stopped = true;
  return plans;
}

TEST(ComparisonCsv, HasAFieldForEachColumnAndQuotesWhatNeedsIt) {
  const PlainStep step = small_step();
  const std::string rows = comparison_csv(step, small_comparison());
  EXPECT_THAT(rows, HasSubstr("a<b,unit,200,1,80%,160,dtr,1,0,1.02,0.02,0,0,0,0,0,,\n"));
  EXPECT_THAT(rows,
              HasSubstr("60%,120,capuchin,0,1,,,,,,2.5,1,150,\"too <small>, \"\"really\"\"\"\n"));
  const std::string head = comparison_csv_head();
  const std::string first = rows.substr(0, rows.find('\n'));
  EXPECT_EQ(std::count(head.begin(), head.end(), ','), std::count(first.begin(), first.end(), ','));
}

TEST(ComparisonText, SaysHowLongAPolicyTookAndWhetherItWasStopped) {
  std::vector<ComparedPlan> plans = small_comparison();
  plans[1].plan_seconds = 7;
  plans[1].was_stopped = true;
  const std::string text = comparison_text(small_step(), plans, Style{});
  EXPECT_THAT(text, HasSubstr("7 s (stopped)"));
  EXPECT_THAT(text, HasSubstr("refused (min 150 B) in 2.5 s (stopped): too <small>"));
}

TEST(ComparisonPlot, HasALineForEachPolicyThatPlans) {
  const std::string svg = comparison_plot(small_step(), small_comparison());
  EXPECT_THAT(svg, HasSubstr("<polyline"));
  EXPECT_THAT(svg, HasSubstr(">dtr</text>"));
  EXPECT_THAT(svg, HasSubstr(">capuchin</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">lru</text>")));
  EXPECT_THAT(svg, HasSubstr("a&lt;b on unit, simulated"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(ComparisonPlot, OfRefusalsAloneHasNoLine) {
  std::vector<ComparedPlan> plans = {planned("dtr", "60%", 120, 0)};
  plans[0].refusal = Refusal{"no", 150};
  const std::string svg = comparison_plot(small_step(), plans);
  EXPECT_THAT(svg, Not(HasSubstr("<polyline")));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(ComparisonPage, IsWholeAndEscaped) {
  const std::string page = comparison_page(comparison_section(small_step(), small_comparison()));
  EXPECT_THAT(page, HasSubstr("<h2>a&lt;b</h2>"));
  EXPECT_THAT(page, HasSubstr("refused (min 150 B) in 2.5 s (stopped): too &lt;"));
  EXPECT_THAT(page, HasSubstr("too &lt;small&gt;, &quot;really&quot;"));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("</html>"));
}

}  // namespace
}  // namespace lowtide::cli
