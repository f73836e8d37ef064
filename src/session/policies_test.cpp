// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "session/policies.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/errors.h"

namespace lowtide::session {
namespace {

// "" if there is such a policy.
std::string refusal_of(const std::string& policy, Means means, const PolicyOptions& options = {}) {
  try {
    return policy_within(policy, means, options) != nullptr ? "" : "none";
  } catch (const InvalidInput& error) {
    return error.what();
  }
}

TEST(Policies, OfOneMechanismNeedMeansThatAllowIt) {
  EXPECT_EQ(refusal_of("belady", Means::kHost), "");
  EXPECT_EQ(refusal_of("sublinear", Means::kRecompute), "");
  for (const char* const policy : {"belady", "zero_offload", "vdnn"}) {
    EXPECT_THAT(refusal_of(policy, Means::kRecompute), testing::HasSubstr("moves values"))
        << policy;
  }
  EXPECT_THAT(refusal_of("sublinear", Means::kHost), testing::HasSubstr("recomputes"));
}

TEST(Policies, OfBothMechanismsKeepToTheMeansOrAreRefused) {
  for (const char* const policy : {"capuchin", "tide", "superneurons", "evict_all"}) {
    for (const Means means : {Means::kMixed, Means::kHost, Means::kRecompute}) {
      EXPECT_EQ(refusal_of(policy, means), "") << policy;
    }
  }
  EXPECT_EQ(refusal_of("pofo", Means::kMixed), "");
  EXPECT_THAT(refusal_of("pofo", Means::kHost), testing::HasSubstr("use Means::kMixed"));
  EXPECT_THAT(refusal_of("pofo", Means::kRecompute), testing::HasSubstr("use Means::kMixed"));
}

TEST(Policies, OptionsMayNotContradictTheMeans) {
  EXPECT_EQ(refusal_of("capuchin", Means::kRecompute, {{"swap", "no"}}), "");
  EXPECT_THAT(refusal_of("capuchin", Means::kRecompute, {{"swap", "yes"}}),
              testing::HasSubstr("capuchin with swap=yes moves values"));
  EXPECT_THAT(refusal_of("evict_all", Means::kHost, {{"by", "recompute"}}),
              testing::HasSubstr("recomputes"));
}

}  // namespace
}  // namespace lowtide::session
