// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/replay_prices.h"

#include <string_view>

#include <gtest/gtest.h>

#include "sim/test_step.h"

namespace lowtide::policy {
namespace {

constexpr std::string_view kTwins = R"(
storage w 1 parameter start end
storage a 10 activation
storage b 10 activation
storage c 10 activation
storage g 1 activation end
op fa forward device=5 : w -> a
op fbc forward device=3 : a -> b c
op gb backward : b -> g
op gc backward : c g -> g
op ga backward : a g -> g
)";
constexpr ValueId kA{1};
constexpr ValueId kB{2};
constexpr ValueId kC{3};
constexpr trace::Tick kNow = 2;

struct Prices {
  sim::TestStep test{kTwins, 20};
  TideStep step{test.problem};
  ReplayPrices prices{step, 0.5, 0};

  Prices() {
    for (std::int32_t i = 0; i < 4; ++i) prices.set_here(ValueId{i}, true);
  }
};

TEST(ReplayPrices, AValueTakesItsProducerAndWhatIsMissingBeforeThat) {
  Prices all;
  EXPECT_EQ(all.prices.seconds(kB, kNow), 3);
  // It is read later on, so that its own producer has to run anyway: half of that counts.
  all.prices.set_here(kA, false);
  EXPECT_EQ(all.prices.seconds(kB, kNow), 3 + 0.5 * 5);
}

TEST(ReplayPrices, ATwinThatIsGoneMakesAnOpCheaper) {
  Prices all;
  all.prices.set_here(kC, false);
  EXPECT_EQ(all.prices.seconds(kB, kNow), 0.5 * 3);
}

TEST(ReplayPrices, ADroppedValueNeedsWhatItIsMadeFrom) {
  Prices all;
  EXPECT_EQ(all.prices.next_need(kA, kNow), 4);
  all.prices.set_here(kC, false);
  EXPECT_EQ(all.prices.next_need(kA, kNow), 3);
}

}  // namespace
}  // namespace lowtide::policy
