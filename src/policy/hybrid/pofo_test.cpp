// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

// A chain of layers of 10 bytes; each way forwards takes so many seconds.
std::string chain(int layers, int seconds) {
  std::string storages = "storage w 1 parameter start end\nstorage g 1 gradient end\n";
  std::string forward;
  std::string backward;
  std::string last = "w";
  for (int i = 0; i < layers; ++i) {
    const std::string name = "a" + std::to_string(i);
    const std::string device = " device=" + std::to_string(seconds);
    storages += "storage " + name + " 10 activation\n";
    forward += "op f forward" + device + " : " + last + " -> " + name + "\n";
    backward = "op b backward" + device + " : " + name + " g -> g\n" + backward;
    last = name;
  }
  return storages + forward + "op loss backward : " + last + " -> g\n" + backward;
}

double seconds_of(const TestStep& step, const std::string& policy) {
  return simulate(step.problem, plan_of(step, policy)).seconds;
}

TEST(Pofo, AStepThatFitsIsLeftAlone) {
  EXPECT_EQ(actions_of(TestStep(chain(8, 1), 1000), "pofo"), "");
}

TEST(Pofo, MovesWhereTheLinkKeepsUp) {
  // A copy of 10 bytes takes 10 seconds, half as long as a layer.
  const TestStep step(chain(12, 20), 70);
  const Plan plan = plan_of(step, "pofo");
  EXPECT_GT(count_of<Move>(plan), 0);
  EXPECT_EQ(replays_of(plan), 0);
  EXPECT_LT(seconds_of(step, "pofo"), seconds_of(step, "rotor"));
}

TEST(Pofo, ReplaysWhereTheLinkIsSlow) {
  // A copy takes as long as ten layers.
  const TestStep step(chain(12, 1), 70);
  const Plan plan = plan_of(step, "pofo");
  EXPECT_GT(replays_of(plan), 0);
  EXPECT_LE(seconds_of(step, "pofo"), 1.1 * seconds_of(step, "rotor"));
}

TEST(Pofo, DoesBothWhereNeitherIsEnough) {
  // A copy takes as long as a layer and a half.
  const TestStep step(chain(24, 7), 80);
  const Plan plan = plan_of(step, "pofo");
  EXPECT_GT(count_of<Move>(plan), 0);
  EXPECT_GT(replays_of(plan), 0);
  EXPECT_LT(seconds_of(step, "pofo"), seconds_of(step, "rotor"));
}

TEST(Pofo, WithoutATierItReplays) {
  TestStep step(chain(12, 20), 70);
  step.problem.machine.tiers.clear();
  const Plan plan = plan_of(step, "pofo");
  EXPECT_EQ(count_of<Move>(plan), 0);
  EXPECT_GT(replays_of(plan), 0);
}

TEST(Pofo, ARefusalNamesABudgetThatWorks) {
  const std::int64_t smallest = smallest_budget_of(TestStep(chain(16, 3), 5), "pofo");
  ASSERT_GT(smallest, 5);
  plan_of(TestStep(chain(16, 3), smallest), "pofo");
}

}  // namespace
}  // namespace lowtide::policy
