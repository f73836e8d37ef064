// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/tide_swaps.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "sim/test_step.h"

namespace lowtide::policy {
namespace {

// b takes ten times as long to replay as a. Copies of either take ten seconds; `warm` hides one.
constexpr std::string_view kOneSlot = R"(
storage w 1 parameter start end
storage a 10 activation
storage b 10 activation
storage t 20 activation
storage d 1 activation end
op fa forward : w -> a
op fb forward device=10 : w -> b
op warm forward device=12 : w ->
op peak forward device=100 : w -> t
op cool backward device=15 : w ->
op gb backward : b -> d
op ga backward : a d -> d
)";
constexpr ValueId kA{1};
constexpr ValueId kB{2};

std::vector<SwapDecision> swaps_of(const Problem& problem, const SwapWishes& wishes = {}) {
  return choose_swaps(TideStep(problem), wishes);
}

TEST(TideSwaps, WhatIsDearToReplayGetsTheSlot) {
  const sim::TestStep step(kOneSlot, 31);
  const std::vector<SwapDecision> swaps = swaps_of(step.problem);
  ASSERT_EQ(swaps.size(), 1U);
  EXPECT_EQ(swaps[0].value, kB);
  EXPECT_EQ(swaps[0].after, 1);
  EXPECT_EQ(swaps[0].need, 5);
  EXPECT_LE(swaps[0].issue, 4);
}

TEST(TideSwaps, PricesChangeTheOrder) {
  const sim::TestStep step(kOneSlot, 31);
  SwapWishes wishes;
  wishes.prices.assign(step.problem.trace->values().size(), 1.0F);
  wishes.prices[kA.slot()] = 20;
  const std::vector<SwapDecision> swaps = swaps_of(step.problem, wishes);
  ASSERT_EQ(swaps.size(), 1U);
  EXPECT_EQ(swaps[0].value, kA);
}

TEST(TideSwaps, AValueThatIsWantedEarlierIsBackByThenOrStays) {
  std::string two_peaks(kOneSlot);
  const std::string_view peak = "op peak forward device=100 : w -> t\n";
  two_peaks.insert(two_peaks.find(peak) + peak.size(), "op still forward device=50 : w t ->\n");
  const sim::TestStep step(two_peaks, 31);
  SwapWishes wishes;
  wishes.wanted_by.assign(step.problem.trace->values().size(), step.problem.trace->end().index + 1);
  wishes.wanted_by[kB.slot()] = 5;
  std::vector<SwapDecision> swaps = swaps_of(step.problem, wishes);
  ASSERT_FALSE(swaps.empty());
  EXPECT_EQ(swaps[0].value, kB);
  EXPECT_EQ(swaps[0].issue, 4);
  EXPECT_EQ(swaps[0].need, 5);
  for (const trace::Tick never_gone : {4, -1}) {
    wishes.wanted_by[kB.slot()] = never_gone;
    swaps = swaps_of(step.problem, wishes);
    ASSERT_EQ(swaps.size(), 1U);
    EXPECT_EQ(swaps[0].value, kA);
  }
}

TEST(TideSwaps, NothingIsMovedWithoutTierLinkOrNeed) {
  sim::TestStep step(kOneSlot, 31);
  SwapWishes none;
  none.link_share = 0;
  EXPECT_TRUE(swaps_of(step.problem, none).empty());
  EXPECT_TRUE(swaps_of(sim::TestStep(kOneSlot, 41).problem).empty());
  step.problem.machine.tiers.clear();
  EXPECT_TRUE(swaps_of(step.problem).empty());
}

TEST(TideSwaps, ATierThatIsFullTakesNoMore) {
  sim::TestStep step(kOneSlot, 22);
  step.problem.machine.tiers[0].capacity_bytes = 9;
  EXPECT_TRUE(swaps_of(step.problem).empty());
}

}  // namespace
}  // namespace lowtide::policy
