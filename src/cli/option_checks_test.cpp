// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/option_checks.h"

#include <gtest/gtest.h>

namespace lowtide::cli {
namespace {

std::string check(const CLI::Validator& validator, std::string text) { return validator(text); }

TEST(OptionChecks, WholeNumbers) {
  for (const char* good : {"1", "20", "1000000000000"}) EXPECT_EQ(check(whole_number(1), good), "");
  for (const char* bad : {"0", "-1", "x", "", "1.5", "99999999999999999999"}) {
    EXPECT_EQ(check(whole_number(1), bad),
              std::string("not a whole number of at least 1: '") + bad + "'");
  }
  EXPECT_EQ(check(whole_number(0), "0"), "");
  EXPECT_EQ(check(whole_number(0), "1000000000001"), "more than 1000000000000: '1000000000001'");
}

TEST(OptionChecks, PositiveNumbers) {
  for (const char* good : {"1", "0.05", "1e-3"}) EXPECT_EQ(check(positive_number(), good), "");
  EXPECT_EQ(check(positive_number(), "1e308"), "more than 1e+30: '1e308'");
  for (const char* bad : {"0", "-1", "nan", "inf", "x", ""}) {
    EXPECT_EQ(check(positive_number(), bad), std::string("not a number above 0: '") + bad + "'");
  }
}

TEST(OptionChecks, Names) {
  EXPECT_EQ(check(not_empty(), "x"), "");
  EXPECT_EQ(check(not_empty(), ""), "must not be empty");
  const CLI::Validator tiers = one_of({"none", "host", "host,disk"});
  EXPECT_EQ(check(tiers, "host,disk"), "");
  EXPECT_EQ(check(tiers, "tape"), "unknown 'tape'; known are 'none', 'host' and 'host,disk'");
  EXPECT_EQ(check(tiers, "hots"),
            "unknown 'hots'; known are 'none', 'host' and 'host,disk'; did you mean 'host'?");
}

}  // namespace
}  // namespace lowtide::cli
