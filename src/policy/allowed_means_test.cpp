// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/allowed_means.h"

#include <gtest/gtest.h>

namespace lowtide::policy {
namespace {

constexpr AllowedMeans kMove{.recompute = false};
constexpr AllowedMeans kRecompute{.move = false};

TEST(AllowedMeans, AskNothingOfPoliciesThatDoNoMore) {
  EXPECT_EQ(options_within(policy_named("tide"), {}), PolicyOptions{});
  EXPECT_EQ(options_within(policy_named("vdnn"), kMove), PolicyOptions{});
  EXPECT_EQ(options_within(policy_named("sublinear"), kRecompute), PolicyOptions{});
  EXPECT_EQ(options_within(policy_named("keep_all"), kRecompute), PolicyOptions{});
}

TEST(AllowedMeans, AreOptionsOfPoliciesThatDoBoth) {
  EXPECT_EQ(options_within(policy_named("tide"), kMove), (PolicyOptions{{"recompute", "no"}}));
  EXPECT_EQ(options_within(policy_named("tide"), kRecompute), (PolicyOptions{{"swap", "no"}}));
}

TEST(AllowedMeans, LeaveOutPoliciesThatDoOnlyWhatIsForbidden) {
  EXPECT_EQ(options_within(policy_named("vdnn"), kRecompute), std::nullopt);
  EXPECT_EQ(options_within(policy_named("sublinear"), kMove), std::nullopt);
}

}  // namespace
}  // namespace lowtide::policy
