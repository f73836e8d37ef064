// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/recurring_blocks.h"

#include <gtest/gtest.h>

namespace lowtide::engine {
namespace {

using Birth = RecurringBlocks::Birth;

TEST(RecurringBlocks, KnowsWhenBlocksComeAndGo) {
  RecurringBlocks blocks;
  const auto step = [&] {
    const Birth outer = blocks.born(3);
    const Birth inner = blocks.born(5);
    blocks.died(inner);
    blocks.died(outer);
    blocks.end_step();
  };
  step();
  EXPECT_FALSE(blocks.is_repeated());
  step();
  EXPECT_TRUE(blocks.is_repeated());
  ASSERT_EQ(blocks.blocks().size(), 2U);
  EXPECT_EQ(blocks.blocks()[0].units, 3);
  EXPECT_EQ(blocks.blocks()[0].begin, 0);
  EXPECT_EQ(blocks.blocks()[0].end, 3);
  EXPECT_EQ(blocks.blocks()[1].begin, 1);
  EXPECT_EQ(blocks.blocks()[1].end, 2);
}

TEST(RecurringBlocks, KnowsWhatDiesInTheNextStep) {
  RecurringBlocks blocks;
  Birth survivor = blocks.born(7);
  blocks.end_step();
  for (int i = 0; i < 2; ++i) {
    const Birth before = survivor;
    blocks.died(before);
    survivor = blocks.born(7);
    blocks.end_step();
  }
  EXPECT_TRUE(blocks.is_repeated());
  EXPECT_EQ(blocks.blocks()[0].begin, 1);
  EXPECT_EQ(blocks.blocks()[0].end, 0);
  EXPECT_TRUE(blocks.recurs(survivor));
}

TEST(RecurringBlocks, WhatStaysDoesNotRecur) {
  RecurringBlocks blocks;
  const Birth first = blocks.born(7);
  blocks.end_step();
  const Birth second = blocks.born(7);
  blocks.end_step();
  EXPECT_TRUE(blocks.is_repeated());
  EXPECT_FALSE(blocks.blocks()[0].is_known());
  EXPECT_FALSE(blocks.recurs(first));
  EXPECT_FALSE(blocks.recurs(second));
}

// Born before its predecessor dies: there are two of them at a time.
TEST(RecurringBlocks, WhatMeetsItsSuccessorHasNoPlaceOfItsOwn) {
  RecurringBlocks blocks;
  Birth last = blocks.born(7);
  blocks.end_step();
  for (int i = 0; i < 2; ++i) {
    const Birth next = blocks.born(7);
    blocks.died(last);
    last = next;
    blocks.end_step();
  }
  EXPECT_TRUE(blocks.is_repeated());
  EXPECT_FALSE(blocks.blocks()[0].is_known());
}

TEST(RecurringBlocks, OtherSizesAreAnotherStep) {
  RecurringBlocks blocks;
  for (const std::int64_t units : {1, 1, 2}) {
    blocks.died(blocks.born(units));
    blocks.end_step();
  }
  EXPECT_FALSE(blocks.is_repeated());
}

}  // namespace
}  // namespace lowtide::engine
