// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "base/numbers.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace lowtide::base {
namespace {

TEST(ParseNumber, ReadsTheWholeTextOrNothing) {
  EXPECT_EQ(parse_number<std::int64_t>("12"), 12);
  EXPECT_EQ(parse_number<std::int64_t>("-12"), -12);
  EXPECT_EQ(parse_number<double>("0.25"), 0.25);
  EXPECT_EQ(parse_number<double>("1e-3"), 1e-3);
  for (const char* text : {"", " ", "12 ", " 12", "12x", "1.5", "+1", "0x10", "1e3"}) {
    EXPECT_FALSE(parse_number<std::int64_t>(text)) << text;
  }
  for (const char* text : {"", "1.5 ", "1,5", "1.5s", "1e", "--1"}) {
    EXPECT_FALSE(parse_number<double>(text)) << text;
  }
}

TEST(ParseNumber, RefusesWhatIsNotFiniteOrDoesNotFit) {
  for (const char* text : {"inf", "-inf", "nan", "infinity", "1e999"}) {
    EXPECT_FALSE(parse_number<double>(text)) << text;
  }
  EXPECT_EQ(parse_number<std::int64_t>("9223372036854775807"),
            std::numeric_limits<std::int64_t>::max());
  EXPECT_FALSE(parse_number<std::int64_t>("9223372036854775808"));
}

TEST(PrintNumber, IsShortAndParsesBackToTheSameNumber) {
  EXPECT_EQ(print_number(0.1), "0.1");
  EXPECT_EQ(print_number(3), "3");
  EXPECT_EQ(print_number(1e-6), "1e-06");
  for (const double number : {0.1 + 0.2, 1.0 / 3, 5e-324, 1.7976931348623157e308, -123456.789}) {
    EXPECT_EQ(parse_number<double>(print_number(number)), number);
  }
}

}  // namespace
}  // namespace lowtide::base
