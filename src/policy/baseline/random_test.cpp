// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <set>

#include <gtest/gtest.h>

#include "policy/baseline/stale_values.h"
#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

TEST(RandomPolicy, TheSeedAloneDecides) {
  std::set<std::string> plans;
  for (int seed = 0; seed < 30; ++seed) {
    const PolicyOptions options{{"seed", std::to_string(seed)}};
    const std::string actions = actions_of(TestStep(kStaleValues, 13), "random", options);
    EXPECT_EQ(actions, actions_of(TestStep(kStaleValues, 13), "random", options));
    plans.insert(actions.substr(0, 18));
  }
  EXPECT_EQ(plans, (std::set<std::string>{"drop a.0 before 4\n", "drop b.0 before 4\n",
                                          "drop c.0 before 4\n"}));
}

}  // namespace
}  // namespace lowtide::policy
