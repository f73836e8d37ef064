// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <set>

#include <gtest/gtest.h>

#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

// When t is made a was used a second ago, b and c earlier; 16 bytes, if nothing goes.
constexpr std::string_view kStep = R"(
storage w 1 parameter start end
storage a 3 activation
storage b 3 activation
storage c 3 activation
storage t 6 activation
storage d 1 activation end
op fa forward : w -> a
op fb forward : w -> b
op fc forward : w -> c
op use forward : a ->
op ft forward : w -> t
op g backward : a b c -> d
)";

TEST(RandomPolicy, TheSeedAloneDecides) {
  std::set<std::string> plans;
  for (int seed = 0; seed < 30; ++seed) {
    const PolicyOptions options{{"seed", std::to_string(seed)}};
    const std::string actions = actions_of(TestStep(kStep, 13), "random", options);
    EXPECT_EQ(actions, actions_of(TestStep(kStep, 13), "random", options));
    plans.insert(actions.substr(0, 18));
  }
  EXPECT_EQ(plans, (std::set<std::string>{"drop a.0 before 4\n", "drop b.0 before 4\n",
                                          "drop c.0 before 4\n"}));
}

}  // namespace
}  // namespace lowtide::policy
