// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/svg.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lowtide::cli {
namespace {

using testing::DoubleEq;
using testing::HasSubstr;
using testing::Pointwise;

TEST(Svg, HasWhatWasDrawnInOrder) {
  SvgPicture picture(40, 30, "A & B");
  picture.line({1, 2}, {3, 4.25}, "stroke=\"black\"");
  picture.path({{0, 0}, {1.5, 2}}, "stroke=\"red\"");
  picture.dot({5, 6}, 2, "fill=\"red\"");
  picture.text({7, 8}, "<60%>", "text-anchor=\"middle\"");
  const std::string text = picture.document();
  EXPECT_THAT(text, HasSubstr("width=\"40\" height=\"30\" viewBox=\"0 0 40 30\""));
  EXPECT_THAT(text, HasSubstr("<title>A &amp; B</title>"));
  EXPECT_THAT(text,
              HasSubstr("<line x1=\"1.0\" y1=\"2.0\" x2=\"3.0\" y2=\"4.2\" stroke=\"black\"/>\n"
                        "<polyline points=\"0.0,0.0 1.5,2.0\" fill=\"none\" stroke=\"red\"/>\n"
                        "<circle cx=\"5.0\" cy=\"6.0\" r=\"2.0\" fill=\"red\"/>\n"
                        "<text x=\"7.0\" y=\"8.0\" text-anchor=\"middle\">&lt;60%&gt;</text>\n"
                        "</svg>\n"));
}

TEST(RoundTicks, LieWithinAtOneTwoOrFiveOfAPowerOfTen) {
  const auto are = [](std::vector<double> ticks) { return Pointwise(DoubleEq(), ticks); };
  EXPECT_THAT(round_ticks(0, 10, 5), are({0, 2, 4, 6, 8, 10}));
  EXPECT_THAT(round_ticks(0.9, 1.5, 6), are({0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5}));
  EXPECT_THAT(round_ticks(0.93, 1.42, 5), are({1.0, 1.1, 1.2, 1.3, 1.4}));
  EXPECT_THAT(round_ticks(0, 173, 4), are({0, 50, 100, 150}));
  EXPECT_FALSE(std::signbit(round_ticks(0, 10, 5).front()));
}

}  // namespace
}  // namespace lowtide::cli
