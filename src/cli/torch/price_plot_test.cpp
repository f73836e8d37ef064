// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/torch/price_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/torch/price_test.h"

namespace lowtide::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(PricePlot, HasAxesPointsPlainAndRefusals) {
  const std::string svg = price_plot(price_example());
  EXPECT_THAT(svg, HasSubstr("resnet50, batch 64, sgd, cuda"));
  EXPECT_THAT(svg, HasSubstr("memory, GiB"));
  EXPECT_THAT(svg, HasSubstr("step time, of plain&#39;s"));
  EXPECT_THAT(svg, HasSubstr("plain: 10.0 GiB, 2 s a step"));
  EXPECT_THAT(svg, HasSubstr(">80%: 1.02</text>"));
  // One is the legend's.
  EXPECT_EQ(count(svg, "<circle"), 3U + 1);
  EXPECT_EQ(count(svg, ">refused</text>"), 1U);
}

// Of the diamonds of peaks: those of the legend and of each budget that is kept.
std::vector<double> diamonds(const std::string& svg) {
  std::vector<double> rightmost;
  const std::string look = "#b8651b\" stroke-width=\"1.5\"";
  std::size_t at = 0;
  while ((at = svg.find("<polyline points=\"", at)) != std::string::npos) {
    const std::size_t end = svg.find('>', at);
    const std::string mark = svg.substr(at, end - at);
    if (mark.find(look) != std::string::npos) {
      rightmost.push_back(std::stod(mark.substr(mark.find('"') + 1)));
    }
    at = end;
  }
  return rightmost;
}

TEST(PricePlot, ShowsPeaksWhereTheyAre) {
  train::PriceCurve curve = price_example();
  const std::vector<double> at_budget = diamonds(price_plot(curve));
  ASSERT_EQ(at_budget.size(), 3U + 1);
  curve.points[1].peak_bytes -= base::kGiB;
  const std::vector<double> below = diamonds(price_plot(curve));
  ASSERT_EQ(below.size(), 3U + 1);
  EXPECT_EQ(below[1], at_budget[1]);
  EXPECT_LT(below[2], at_budget[2]);
  EXPECT_EQ(below[3], at_budget[3]);
}

// From 10 GiB and 2 s at plain's to 8 GiB at 1.02 of that: 0.04 s for 2 GiB; then 0.16 s for 2.
TEST(PricePlot, ShowsWhatAFurtherGibIsWorth) {
  const std::string svg = price_plot(price_example());
  EXPECT_THAT(svg, HasSubstr("saved by 1 GiB, ms"));
  for (const char* figure : {">20</text>", ">80</text>", ">200</text>"}) {
    EXPECT_THAT(svg, HasSubstr(figure));
  }
  EXPECT_THAT(svg, HasSubstr("pale: less than the spread"));
}

TEST(PricePlot, OfRefusalsAloneHasNoCurve) {
  train::PriceCurve curve = price_example();
  curve.points.erase(curve.points.begin(), curve.points.end() - 1);
  const std::string svg = price_plot(curve);
  // Those of the legend.
  EXPECT_EQ(count(svg, "<circle"), 1U);
  EXPECT_EQ(count(svg, "<polyline"), 1U);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(PricePlot, HigherMeansSlower) {
  train::PriceCurve curve = price_example();
  const std::string svg = price_plot(curve);
  double before = 1e9;
  const std::size_t legend = svg.find("<circle");
  for (std::size_t at = svg.find("<circle", legend + 1); at != std::string::npos;
       at = svg.find("<circle", at + 1)) {
    const double y = std::stod(svg.substr(svg.find("cy=\"", at) + 4));
    EXPECT_LT(y, before);
    before = y;
  }
}

}  // namespace
}  // namespace lowtide::cli
