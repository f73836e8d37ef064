// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/swap_variation.h"

#include <string_view>

#include <gtest/gtest.h>

#include "sim/test_step.h"

namespace lowtide::policy {
namespace {

// a is away while b is replayed from it; c stays all the time.
constexpr std::string_view kStep = R"(
storage w 1 parameter start end
storage a 10 activation
storage b 10 activation
storage c 10 activation
storage t 20 activation
storage d 1 activation end
op fa forward : w -> a
op fb forward : a -> b
op fc forward : w -> c
op peak forward device=100 : w -> t
op gc backward : c -> d
op gb backward : b d -> d
op ga backward : a d -> d
)";

struct Variation {
  Variation()
      : test(kStep, 40), step(test.problem), spans(step, 0, {{a(), TierId{0}, 1, 2, 4, 5}}) {
    spans.let_go(test.value("b.0"), 1, 5);
    spans.settle();
  }
  ValueId a() const { return test.value("a.0"); }
  float price(const SwapWishes& wishes, std::string_view name) const {
    return wishes.prices[test.value(name).slot()];
  }

  sim::TestStep test;
  TideStep step;
  KeptSpans spans;
};

TEST(SwapVariation, ReplayedValuesAreDearerAndSwappedOnesCheaperAndOthersKeepTheirPrices) {
  const Variation some;
  base::Random random(1);
  bool is_dearer = false;
  bool is_cheaper = false;
  for (int i = 0; i < 50; ++i) {
    const SwapWishes wishes = vary_wishes(some.step, some.spans, {}, random);
    EXPECT_GE(some.price(wishes, "b.0"), 1);
    EXPECT_LE(some.price(wishes, "a.0"), 1);
    EXPECT_EQ(some.price(wishes, "c.0"), 1);
    is_dearer = is_dearer || some.price(wishes, "b.0") > 1;
    is_cheaper = is_cheaper || some.price(wishes, "a.0") < 1;
  }
  EXPECT_TRUE(is_dearer);
  EXPECT_TRUE(is_cheaper);
}

TEST(SwapVariation, WhatReplaysReadIsWantedByThen) {
  const Variation some;
  base::Random random(1);
  const SwapWishes wishes = vary_wishes(some.step, some.spans, {}, random);
  EXPECT_EQ(wishes.wanted_by[some.a().slot()], 5);
  EXPECT_EQ(wishes.wanted_by[some.test.value("b.0").slot()], some.step.never());
}

TEST(SwapVariation, TheSameNumbersMakeTheSameWishes) {
  const Variation some;
  base::Random one(7);
  base::Random other(7);
  for (int i = 0; i < 10; ++i) {
    const SwapWishes a = vary_wishes(some.step, some.spans, {}, one);
    const SwapWishes b = vary_wishes(some.step, some.spans, {}, other);
    EXPECT_EQ(a.prices, b.prices);
    EXPECT_EQ(a.link_share, b.link_share);
    EXPECT_EQ(a.source_price, b.source_price);
  }
}

}  // namespace
}  // namespace lowtide::policy
