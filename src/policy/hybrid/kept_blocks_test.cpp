// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/kept_blocks.h"

#include <vector>

#include <gtest/gtest.h>

namespace lowtide::policy {
namespace {

using trace::Tick;

std::vector<ValueId> near(const KeptBlocks& blocks, Tick tick) {
  std::vector<ValueId> values;
  blocks.list(tick, values);
  return values;
}

// 5,000 ticks: blocks of twenty.
TEST(KeptBlocks, AValueIsListedInEachBlockThatItIsKeptIn) {
  KeptBlocks blocks(5000, 200);
  blocks.add(ValueId{3}, 30, 70);
  blocks.add(ValueId{130}, 70, 4999);
  EXPECT_EQ(near(blocks, 19), std::vector<ValueId>{});
  EXPECT_EQ(near(blocks, 20), std::vector<ValueId>{ValueId{3}});
  EXPECT_EQ(near(blocks, 79), (std::vector<ValueId>{ValueId{3}, ValueId{130}}));
  EXPECT_EQ(near(blocks, 80), std::vector<ValueId>{ValueId{130}});
  EXPECT_EQ(near(blocks, 4999), std::vector<ValueId>{ValueId{130}});
  blocks.add(ValueId{3}, 95, 94);
  EXPECT_EQ(near(blocks, 94), std::vector<ValueId>{ValueId{130}}) << "nothing was added";
}

TEST(KeptBlocks, WhatIsTakenAwayGoesFromAllBlocksThatItTouched) {
  KeptBlocks blocks(5000, 200);
  blocks.add(ValueId{3}, 0, 4999);
  blocks.remove(ValueId{3}, 30, 70);
  EXPECT_EQ(blocks.block_begin(30), 20);
  EXPECT_EQ(blocks.block_end(70), 79);
  EXPECT_EQ(near(blocks, 19).size(), 1);
  EXPECT_EQ(near(blocks, 20).size(), 0);
  EXPECT_EQ(near(blocks, 79).size(), 0);
  EXPECT_EQ(near(blocks, 80).size(), 1);
}

TEST(KeptBlocks, AShortStepHasBlocksOfSixteen) {
  KeptBlocks blocks(17, 1);
  blocks.add(ValueId{0}, 16, 16);
  EXPECT_EQ(near(blocks, 15).size(), 0);
  EXPECT_EQ(near(blocks, 16).size(), 1);
}

}  // namespace
}  // namespace lowtide::policy
