// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "base/check.h"

#include <string>

#include <gtest/gtest.h>

namespace lowtide::base {
namespace {

TEST(Require, ThrowsInvalidInputWithItsPartsInOrder) {
  try {
    LT_REQUIRE(1 > 2, "found ", 3, " of ", 4.5);
    FAIL() << "did not throw";
  } catch (const InvalidInput& error) {
    EXPECT_STREQ(error.what(), "found 3 of 4.5");
  }
}

TEST(Check, ThrowsInternalErrorWithConditionAndPlace) {
  try {
    LT_CHECK(1 > 2, "value ", 7);
    FAIL() << "did not throw";
  } catch (const InternalError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("value 7"), std::string::npos) << message;
    EXPECT_NE(message.find("1 > 2"), std::string::npos) << message;
    EXPECT_NE(message.find(", src/base/check_test.cpp:"), std::string::npos) << message;
  }
}

TEST(Check, MakesItsMessageOnlyWhenItFails) {
  int made = 0;
  const auto message = [&made] { return ++made; };
  LT_REQUIRE(true, message());
  LT_CHECK(true, message());
  EXPECT_EQ(made, 0);
}

}  // namespace
}  // namespace lowtide::base
