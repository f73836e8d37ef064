// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/ledger.h"

#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/errors.h"

namespace lowtide::engine {
namespace {

void* block(std::uintptr_t number) { return reinterpret_cast<void*>(number * 64); }

// Gives back blocks of a ledger, the first ones first.
class BlockEvictor final : public Evictor {
 public:
  explicit BlockEvictor(Ledger& ledger) : ledger_(ledger) {}

  std::int64_t evict(std::int64_t bytes, std::int64_t) override {
    std::int64_t freed = 0;
    while (freed < bytes && !blocks.empty()) {
      freed += ledger_.find_block(blocks.front())->bytes;
      ledger_.remove_block(blocks.front());
      blocks.erase(blocks.begin());
    }
    return freed;
  }
  bool move_together(MovableBlocks&) override { return false; }
  void on_block_freed(void*, const Block& block) noexcept override {
    owners.push_back(block.owner);
  }
  std::string describe_shortage(std::int64_t) override { return " Nothing was left."; }

  std::vector<void*> blocks;
  std::vector<void*> owners;

 private:
  Ledger& ledger_;
};

TEST(Ledger, CountsWhatIsHeldAndItsPeak) {
  Ledger ledger;
  EXPECT_EQ(ledger.admit(100), nullptr);
  ledger.add_block(block(1), 100);
  EXPECT_EQ(ledger.admit(50), nullptr);
  ledger.add_block(block(2), 50);
  EXPECT_TRUE(ledger.remove_block(block(1)));
  EXPECT_EQ(ledger.held_bytes(), 50);
  EXPECT_EQ(ledger.peak_bytes(), 150);
  ledger.reset_peak();
  EXPECT_EQ(ledger.peak_bytes(), 50);
  EXPECT_FALSE(ledger.remove_block(block(1)));
}

TEST(Ledger, EvictsRatherThanPassTheBudget) {
  Ledger ledger;
  BlockEvictor evictor(ledger);
  ledger.set_evictor(&evictor);
  ledger.set_budget(100);
  EXPECT_EQ(ledger.admit(60), nullptr);
  ledger.add_block(block(1), 60);
  evictor.blocks.push_back(block(1));
  EXPECT_EQ(ledger.admit(70), nullptr);
  EXPECT_EQ(ledger.held_bytes(), 70);
  EXPECT_LE(ledger.peak_bytes(), 100);
}

TEST(Ledger, TellsOfBlocksThatAreOwnedOrCopiedWhenTheyGo) {
  Ledger ledger;
  BlockEvictor evictor(ledger);
  ledger.set_evictor(&evictor);
  int owner = 0;
  for (const std::uintptr_t number : {1U, 2U, 3U}) {
    EXPECT_EQ(ledger.admit(10), nullptr);
    ledger.add_block(block(number), 10);
  }
  ledger.set_owner(block(1), &owner);
  ledger.set_copied(block(2), true);
  for (const std::uintptr_t number : {1U, 2U, 3U}) ledger.remove_block(block(number));
  EXPECT_EQ(evictor.owners, (std::vector<void*>{&owner, nullptr}));
}

TEST(Ledger, KeepsTheMarginFreeAsLongAsItCanEvict) {
  Ledger ledger;
  BlockEvictor evictor(ledger);
  ledger.set_evictor(&evictor);
  ledger.set_budget(100);
  ledger.set_margin(20);
  EXPECT_EQ(ledger.admit(50), nullptr);
  ledger.add_block(block(1), 50);
  evictor.blocks.push_back(block(1));
  EXPECT_EQ(ledger.admit(40), nullptr);
  EXPECT_EQ(ledger.held_bytes(), 40) << "90 would fit the budget, but not beside the margin";
  EXPECT_EQ(ledger.admit(50), nullptr);
  EXPECT_EQ(ledger.held_bytes(), 90) << "nothing is left to evict, so the margin is used";
}

TEST(Ledger, RefusesWithWhatWasAskedAndHeld) {
  Ledger ledger;
  BlockEvictor evictor(ledger);
  ledger.set_evictor(&evictor);
  ledger.set_budget(100);
  EXPECT_EQ(ledger.admit(60), nullptr);
  try {
    EXPECT_EQ(ledger.admit(70), nullptr);
    FAIL() << "more than the budget was admitted";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.asked_bytes, 70);
    EXPECT_EQ(error.held_bytes, 60);
    EXPECT_EQ(error.smallest_budget_bytes(), 130);
    EXPECT_THAT(error.what(), testing::HasSubstr("Nothing was left."));
  }
  EXPECT_EQ(ledger.held_bytes(), 60);
  EXPECT_EQ(ledger.refused(), 1);
}

TEST(Ledger, TellsTheOwnerOfABlockThatGoes) {
  Ledger ledger;
  BlockEvictor evictor(ledger);
  ledger.set_evictor(&evictor);
  int owner = 0;
  EXPECT_EQ(ledger.admit(10), nullptr);
  ledger.add_block(block(1), 10, &owner);
  EXPECT_EQ(ledger.set_owner(block(1), &owner)->stream, &owner);
  ledger.remove_block(block(1));
  EXPECT_THAT(evictor.owners, testing::ElementsAre(&owner));
}

TEST(Ledger, AdoptsBlocksOfBeforeTheGate) {
  Ledger ledger;
  ledger.adopt_block(block(1), 10, false);
  EXPECT_EQ(ledger.held_bytes(), 10);
  ledger.count_outside(20);
  ledger.adopt_block(block(2), 20, true);
  EXPECT_EQ(ledger.held_bytes(), 30);
  ledger.remove_block(block(1));
  ledger.remove_block(block(2));
  EXPECT_EQ(ledger.held_bytes(), 0);
}

TEST(Ledger, RoomIsMadeForWhatWasAdopted) {
  Ledger ledger;
  BlockEvictor evictor(ledger);
  ledger.set_evictor(&evictor);
  ledger.set_budget(100);
  EXPECT_EQ(ledger.admit(80), nullptr);
  ledger.add_block(block(1), 80);
  evictor.blocks = {block(1)};
  ledger.adopt_block(block(2), 40, false);
  EXPECT_EQ(ledger.peak_bytes(), 80);
  ledger.keep_cap();
  EXPECT_EQ(ledger.held_bytes(), 40);
  ledger.adopt_block(block(3), 70, false);
  EXPECT_THROW(ledger.keep_cap(), OutOfMemory);
}

TEST(Ledger, WatermarkStartsAnew) {
  Ledger ledger;
  EXPECT_EQ(ledger.admit(30), nullptr);
  ledger.release(20);
  ledger.start_watermark();
  EXPECT_EQ(ledger.watermark_bytes(), 10);
  EXPECT_EQ(ledger.admit(5), nullptr);
  EXPECT_EQ(ledger.watermark_bytes(), 15);
  EXPECT_EQ(ledger.peak_bytes(), 30);
}

TEST(Ledger, ClearsAnOwnerOnlyWhereItStillIs) {
  Ledger ledger;
  BlockEvictor evictor(ledger);
  ledger.set_evictor(&evictor);
  int first = 0;
  int second = 0;
  EXPECT_EQ(ledger.admit(10), nullptr);
  ledger.add_block(block(1), 10);
  ledger.set_owner(block(1), &second);
  ledger.clear_owner(block(1), &first);
  EXPECT_EQ(ledger.find_block(block(1))->owner, &second);
  ledger.clear_owner(block(1), &second);
  ledger.remove_block(block(1));
  EXPECT_TRUE(evictor.owners.empty());
}

// Memory without end, one address after another.
class TestOverflow final : public Overflow {
 public:
  void* allocate_overflow(std::int64_t bytes) override {
    return bytes > most ? nullptr : block(++count);
  }
  void free_overflow(void*, const Block&) noexcept override { --count; }
  std::int64_t most = 1000;
  std::uintptr_t count = 100;
};

TEST(Ledger, SendsWhatDoesNotFitToTheOverflowAndEvictsNothing) {
  Ledger ledger;
  BlockEvictor evictor(ledger);
  ledger.set_evictor(&evictor);
  TestOverflow overflow;
  ledger.set_budget(100);
  ledger.set_overflow(&overflow);
  EXPECT_EQ(ledger.admit(60), nullptr);
  ledger.add_block(block(1), 60);
  evictor.blocks = {block(1)};
  ASSERT_EQ(ledger.admit(50), &overflow);
  EXPECT_FALSE(ledger.evict_more(50));
  void* data = ledger.allocate_overflow(overflow, 50);
  EXPECT_EQ(ledger.held_bytes(), 60) << "it is outside of the cap";
  EXPECT_EQ(ledger.overflowed_bytes(), 50);
  const auto removed = ledger.remove_block(data);
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->overflow, &overflow);
  EXPECT_EQ(ledger.held_bytes(), 60);

  overflow.most = 10;
  EXPECT_THROW(ledger.allocate_overflow(overflow, 50), OutOfMemory);
  ledger.set_overflow(nullptr);
  EXPECT_EQ(ledger.admit(50), nullptr) << "there is something to evict again";
  EXPECT_EQ(ledger.held_bytes(), 50);
}

TEST(Ledger, CountsThePeakOfAStep) {
  Ledger ledger;
  EXPECT_EQ(ledger.admit(80), nullptr);
  ledger.release(80);
  ledger.start_step();
  EXPECT_EQ(ledger.admit(30), nullptr);
  EXPECT_EQ(ledger.step_peak_bytes(), 30);
  EXPECT_EQ(ledger.peak_bytes(), 80);
}

TEST(Ledger, KeepsTheBudgetWhenManyThreadsAsk) {
  Ledger ledger;
  ledger.set_budget(1000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&ledger] {
      for (int i = 0; i < 10000; ++i) {
        try {
          EXPECT_EQ(ledger.admit(300), nullptr);
        } catch (const OutOfMemory&) {
          continue;
        }
        ledger.release(300);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ledger.held_bytes(), 0);
  EXPECT_LE(ledger.peak_bytes(), 1000);
}

TEST(Ledger, ABlockCanChangeItsPlace) {
  Ledger ledger;
  EXPECT_EQ(ledger.admit(100), nullptr);
  ledger.add_block(block(1), 100);
  ledger.set_owner(block(1), &ledger);
  ledger.rename_block(block(1), block(2));
  EXPECT_FALSE(ledger.find_block(block(1)));
  ASSERT_TRUE(ledger.find_block(block(2)));
  EXPECT_EQ(ledger.find_block(block(2))->owner, &ledger);
  EXPECT_EQ(ledger.held_bytes(), 100);
  ledger.remove_block(block(2));
  EXPECT_EQ(ledger.held_bytes(), 0);
}

}  // namespace
}  // namespace lowtide::engine
