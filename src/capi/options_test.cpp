// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "capi/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/errors.h"

namespace lowtide::capi {
namespace {

using testing::HasSubstr;

std::string refusal_of(const char* text) {
  try {
    parse_options(text);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ParseOptions, TakesTheNamesOfTheSession) {
  const SessionOptions options = parse_options(
      R"({"budget": "8GiB", "device": "cpu", "means": "host", "policy": "capuchin",
          "policy_options": {"swap": "no"}, "floor_bytes": 4096, "step_aside": false,
          "batch": 32})");
  EXPECT_EQ(options.budget, "8GiB");
  EXPECT_EQ(options.device, "cpu");
  EXPECT_EQ(options.means, Means::kHost);
  EXPECT_EQ(options.policy, "capuchin");
  EXPECT_EQ(options.policy_options.at("swap"), "no");
  EXPECT_EQ(options.floor_bytes, 4096);
  EXPECT_FALSE(options.step_aside);
  EXPECT_EQ(options.batch, 32);
}

TEST(ParseOptions, WhatIsLeftOutKeepsItsDefault) {
  const SessionOptions options = parse_options("{}");
  EXPECT_EQ(options.policy, SessionOptions{}.policy);
  EXPECT_EQ(options.floor_bytes, SessionOptions{}.floor_bytes);
}

TEST(ParseOptions, AnUnknownNameIsAnsweredWithTheNearest) {
  EXPECT_THAT(refusal_of(R"({"bugdet": "8GiB"})"), HasSubstr("did you mean 'budget'"));
}

TEST(ParseOptions, OtherTypesAndOtherTextsAreRefused) {
  EXPECT_THAT(refusal_of(R"({"budget": 8})"), HasSubstr("wrong type"));
  EXPECT_THAT(refusal_of(R"({"means": "disk"})"), HasSubstr("recompute, host or mixed"));
  EXPECT_THAT(refusal_of("[]"), HasSubstr("JSON object"));
  EXPECT_THAT(refusal_of("{\"budget\": "), HasSubstr("JSON object"));
}

}  // namespace
}  // namespace lowtide::capi
