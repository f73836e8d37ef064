// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <set>

#include <gtest/gtest.h>

#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

// Ten bytes each, of nearly one age. By cost a and c would go for t, which lie apart.
constexpr std::string_view kFour = R"(
storage w 1 parameter start end
storage a 10 activation
storage b 10 activation
storage c 10 activation
storage d 10 activation
storage t 20 temporary
storage e 1 activation end
op fa forward device=1 : w -> a
op fb forward device=30 : w -> b
op fc forward device=1 : w -> c
op fd forward device=20 : w -> d
op wait forward device=100000 : w ->
op ft forward : w -> t
op g backward : a b c d -> e
)";

std::set<std::string> dropped_for_t(const TestStep& step, std::string_view policy,
                                    const PolicyOptions& options) {
  std::set<std::string> names;
  for (const Action& action : plan_of(step, policy, options).actions) {
    const auto* drop = std::get_if<Drop>(&action);
    if (drop != nullptr && drop->op == OpId{5}) names.insert(step.name(drop->value));
  }
  return names;
}

using Names = std::set<std::string>;

TEST(Coop, OfNeighboursInMemoryTheCheapestGo) {
  const TestStep step(kFour, 42);
  EXPECT_EQ(dropped_for_t(step, "dtr", {{"score", "local"}}), (Names{"a.0", "c.0"}));
  EXPECT_EQ(dropped_for_t(step, "coop", {{"cheap_below", "0"}}), (Names{"c.0", "d.0"}));
}

TEST(Coop, CheapValuesLieTogether) {
  EXPECT_EQ(dropped_for_t(TestStep(kFour, 42), "coop", {}), (Names{"a.0", "c.0"}));
}

// c may not go: b and d are no neighbours then.
TEST(Coop, NobodyWhoMustStayIsInTheRow) {
  std::string text(kFour);
  text.replace(text.find("op fc forward"), 13, "op fc forward once");
  EXPECT_EQ(dropped_for_t(TestStep(text, 42), "coop", {{"cheap_below", "0"}}),
            (Names{"a.0", "b.0"}));
}

// The row that is free at the upper end is one byte long, so a row of two values is not enough.
TEST(Coop, FreeBytesBesideValuesArePartOfTheRow) {
  std::string text(kFour);
  text.replace(text.find("storage t 20"), 12, "storage t 21");
  EXPECT_EQ(dropped_for_t(TestStep(text, 42), "coop", {{"cheap_below", "0"}}),
            (Names{"c.0", "d.0"}));
}

TEST(Coop, AStepThatFitsIsLeftAlone) {
  EXPECT_EQ(actions_of(TestStep(kFour, 61), "coop"), "online coop\n");
}

}  // namespace
}  // namespace lowtide::policy
