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
  EXPECT_THAT(svg, HasSubstr("memory budget, GiB"));
  EXPECT_THAT(svg, HasSubstr("step time, of plain&#39;s"));
  EXPECT_THAT(svg, HasSubstr("plain: 10.0 GiB, 2 s a step"));
  EXPECT_THAT(svg, HasSubstr(">80%: 1.02</text>"));
  EXPECT_EQ(count(svg, "<circle"), 3U);
  EXPECT_EQ(count(svg, ">refused</text>"), 1U);
}

TEST(PricePlot, OfRefusalsAloneHasNoCurve) {
  train::PriceCurve curve = price_example();
  curve.points.erase(curve.points.begin(), curve.points.end() - 1);
  const std::string svg = price_plot(curve);
  EXPECT_THAT(svg, Not(HasSubstr("<circle")));
  EXPECT_THAT(svg, Not(HasSubstr("<polyline")));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(PricePlot, HigherMeansSlower) {
  train::PriceCurve curve = price_example();
  const std::string svg = price_plot(curve);
  double before = 1e9;
  for (std::size_t at = svg.find("<circle"); at != std::string::npos;
       at = svg.find("<circle", at + 1)) {
    const double y = std::stod(svg.substr(svg.find("cy=\"", at) + 4));
    EXPECT_LT(y, before);
    before = y;
  }
}

}  // namespace
}  // namespace lowtide::cli
