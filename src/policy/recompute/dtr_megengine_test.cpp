// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

std::string first_drop(const TestStep& step, const PolicyOptions& options) {
  const std::string actions = actions_of(step, "dtr_megengine", options);
  return actions.substr(0, actions.find('\n'));
}

// Addresses: w 0, a 1, k 11, x 21 (free again), b 31. t needs ten bytes more than there are. a, k
// and b are alike but for their age, which differs little, and the hole beside k and b.
TEST(DtrMegEngine, WhatLiesBesideAHoleGoesFirst) {
  const TestStep step(R"(
storage w 1 parameter start end
storage a 10 activation
storage k 10 activation
storage x 10 temporary
storage b 10 activation
storage t 20 temporary
storage d 1 activation end
op fa forward : w -> a
op fk forward : w -> k
op fx forward : w -> x
op fb forward : w x -> b free x
op wait forward device=1000 : w ->
op ft forward : w -> t
op g backward : a k b -> d
)",
                      41);
  EXPECT_EQ(first_drop(step, {}), "drop k.0 before 5");
  EXPECT_EQ(first_drop(step, {{"b", "0"}}), "drop a.0 before 5") << "size does not count";
  EXPECT_EQ(first_drop(step, {{"search", "all"}, {"unit", "1"}}), "drop k.0 before 5");
}

// a goes for t, comes back for ra, and is then the one that was not used for longest.
TEST(DtrMegEngine, WhatWasReplayedBeforeIsSpared) {
  const TestStep step(R"(
storage w 1 parameter start end
storage a 10 activation
storage b 10 activation
storage t 20 temporary
storage u 20 temporary
storage d 1 activation end
op fa forward : w -> a
op fb forward : w -> b
op ft forward : w -> t
op ra forward : a ->
op rb forward : b ->
op wait forward device=1000 : w ->
op fu forward : w -> u
op g backward : a b -> d
)",
                      31);
  const auto second_drop = [&](const PolicyOptions& options) {
    const std::string actions = actions_of(step, "dtr_megengine", options);
    const std::size_t at = actions.find(" before 6");
    return actions.substr(at - 3, 3);
  };
  EXPECT_EQ(second_drop({{"b", "0"}, {"p", "1"}}), "a.0");
  EXPECT_EQ(second_drop({{"b", "0"}, {"p", "10"}}), "b.0");
}

// b took ten times as long to make and is twice as old.
TEST(DtrMegEngine, ExponentsSayWhatCounts) {
  const TestStep step(R"(
storage w 1 parameter start end
storage a 10 activation
storage b 10 activation
storage t 20 temporary
storage d 1 activation end
op fb forward device=10 : w -> b
op wait forward device=100 : w ->
op fa forward : w -> a
op more forward device=100 : w ->
op ft forward : w -> t
op g backward : a b -> d
)",
                      31);
  EXPECT_EQ(first_drop(step, {{"b", "0"}}), "drop a.0 before 4");
  EXPECT_EQ(first_drop(step, {{"b", "0"}, {"a", "0"}}), "drop b.0 before 4") << "no cost";
  EXPECT_EQ(first_drop(step, {{"b", "0"}, {"d", "8"}}), "drop b.0 before 4") << "age most";
}

// a took ten times as long to make as b, which is a little smaller and older.
TEST(DtrMegEngine, WithALargeLeastCostNeitherCostNorAgeCount) {
  const TestStep step(R"(
storage w 1 parameter start end
storage a 11 activation
storage b 10 activation
storage t 20 temporary
storage d 1 activation end
op fb forward : w -> b
op fa forward device=10 : w -> a
op wait forward device=1000 : w ->
op ft forward : w -> t
op g backward : a b -> d
)",
                      32);
  EXPECT_EQ(first_drop(step, {}), "drop b.0 before 3");
  EXPECT_EQ(first_drop(step, {{"least", "1e6"}, {"unit", "1"}}), "drop a.0 before 3")
      << "the larger one";
}

}  // namespace
}  // namespace lowtide::policy
