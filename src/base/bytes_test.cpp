// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "base/bytes.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "lowtide/errors.h"

namespace lowtide::base {
namespace {

struct SizeCase {
  std::string text;
  std::int64_t bytes;
};

TEST(ParseBytes, ReadsEveryFormThatTheHeaderPromises) {
  const SizeCase cases[] = {
      {"0", 0},
      {"4096", 4096},
      {"4096B", 4096},
      {"8GiB", 8 * kGiB},
      {"8gib", 8 * kGiB},
      {"8 GiB", 8 * kGiB},
      {" 8GiB ", 8 * kGiB},
      {"1.5GiB", 3 * kGiB / 2},
      {".5KiB", 512},
      {"1k", kKiB},
      {"2m", 2 * kMiB},
      {"3g", 3 * kGiB},
      {"1t", 1024 * kGiB},
      {"1TiB", 1024 * kGiB},
      {"1KB", 1000},
      {"512MB", 512000000},
      {"2GB", 2000000000},
      {"1TB", 1000000000000},
      {"0.0001KB", 0},
      {"1.0006KB", 1001},
  };
  for (const SizeCase& c : cases) EXPECT_EQ(parse_bytes(c.text), c.bytes) << c.text;
}

TEST(ParseBytes, ReadsPlainBytesExactlyBeyondWhatADoubleHolds) {
  EXPECT_EQ(parse_bytes("9007199254740993"), 9007199254740993);
}

TEST(ParseBytes, RefusesWhatIsNoSizeAndSaysWhatIs) {
  for (const std::string text : {"", " ", "GiB", "-1", "-1GiB", "1.5.2GiB", "1e9", "8 Gi B",
                                 "8GiBB", "60%", "inf", "nan", "0x10", "8,5GiB", "+1"}) {
    try {
      parse_bytes(text);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const InvalidInput& error) {
      EXPECT_NE(std::string(error.what()).find("8GiB"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("'" + text + "'"), std::string::npos);
    }
  }
}

TEST(ParseBytes, RefusesSizesThatDoNotFit) {
  for (const char* text :
       {"9000000TiB", "9999999999999999999", "1e999", "99999999999999999999TiB"}) {
    EXPECT_THROW(parse_bytes(text), InvalidInput) << text;
  }
}

TEST(ParseBudget, ReadsSharesOfTheWholeAndSizes) {
  const SizeCase cases[] = {
      {"60%", 600},   {"100%", 1000}, {"0%", 0},  {"12.5%", 125},
      {"150%", 1500}, {"60 %", 600},  {"64", 64}, {"1KiB", 1024},
  };
  for (const SizeCase& c : cases) EXPECT_EQ(parse_budget(c.text, 1000), c.bytes) << c.text;
}

TEST(ParseBudget, RefusesWhatIsNoShare) {
  for (const char* text : {"%", "-5%", "1001%", "x%", "60%%", "nan%", "6 0%"}) {
    EXPECT_THROW(parse_budget(text, 1000), InvalidInput) << text;
  }
}

TEST(ParseBudget, RefusesAShareThatDoesNotFit) {
  EXPECT_THROW(parse_budget("1000%", std::numeric_limits<std::int64_t>::max()), InvalidInput);
}

TEST(FormatBytes, ShowsThreeOrFourDigitsAndTheUnit) {
  const SizeCase cases[] = {
      {"0 B", 0},
      {"312 B", 312},
      {"1023 B", 1023},
      {"1.00 KiB", 1024},
      {"1.50 GiB", 3 * kGiB / 2},
      {"12.0 GiB", 12 * kGiB},
      {"1.00 GiB", kGiB - 1},
      {"-2.00 MiB", -2 * kMiB},
      {"2048.0 TiB", kMiB * 2 * kGiB},
  };
  for (const SizeCase& c : cases) EXPECT_EQ(format_bytes(c.bytes), c.text);
}

TEST(FormatSeconds, ShowsThreeDigitsWithoutAnExponent) {
  const std::pair<double, const char*> cases[] = {
      {0, "0 s"},          {12.34, "12.3 s"},     {1, "1 s"},
      {4.5678, "4.57 s"},  {123.4, "123 s"},      {12345, "12345 s"},
      {0.0123, "12.3 ms"}, {0.9999, "1 s"},       {9.999e-4, "1 ms"},
      {5e-6, "5 us"},      {1.5e-9, "0.0015 us"}, {-0.25, "-250 ms"},
  };
  for (const auto& [seconds, text] : cases) EXPECT_EQ(format_seconds(seconds), text);
}

TEST(RoundUp, GivesTheNextMultiple) {
  EXPECT_EQ(round_up(0, 512), 0);
  EXPECT_EQ(round_up(1, 512), 512);
  EXPECT_EQ(round_up(512, 512), 512);
  EXPECT_EQ(round_up(513, 512), 1024);
  EXPECT_EQ(round_up(7, 1), 7);
  EXPECT_THROW(round_up(1, 0), InternalError);
  EXPECT_THROW(round_up(-1, 512), InternalError);
}

}  // namespace
}  // namespace lowtide::base
