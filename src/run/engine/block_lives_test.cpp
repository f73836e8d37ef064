// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/block_lives.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace lowtide::engine {
namespace {

bool is_alive_at(const RecurringBlock& block, int event) {
  if (!block.is_known()) return false;
  if (block.begin < block.end) return block.begin <= event && event < block.end;
  return event >= block.begin || event < block.end;
}

TEST(BlockLives, AreComparedEventByEvent) {
  constexpr int kEvents = 12;
  base::Random random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<RecurringBlock> blocks;
    for (int i = 0; i < 20; ++i) {
      const auto begin = static_cast<int>(random.below(kEvents));
      const auto end = static_cast<int>(random.below(kEvents + 1)) - 1;
      blocks.push_back({1, begin, end});
    }
    const BlockLives lives(blocks);
    for (std::size_t a = 0; a < blocks.size(); ++a) {
      const auto met = lives.met_by(a);
      for (std::size_t b = 0; b < blocks.size(); ++b) {
        bool is_met = false;
        for (int event = 0; event < kEvents && a != b; ++event) {
          is_met = is_met || (is_alive_at(blocks[a], event) && is_alive_at(blocks[b], event));
        }
        EXPECT_EQ(met[b] != 0, is_met) << a << " and " << b << " in round " << round;
      }
    }
  }
}

}  // namespace
}  // namespace lowtide::engine
