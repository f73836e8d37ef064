// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/host_cache.h"

#include <cstdlib>
#include <cstring>
#include <deque>
#include <set>

#include <gtest/gtest.h>

#include "base/random.h"
#include "lowtide/errors.h"
#include "run/tier/faulty_io_test.h"
#include "run/tier/host_arena.h"
#include "run/tier/tier_test.h"

namespace lowtide::engine {
namespace {

using tier::Fault;
using tier::FaultPlan;

constexpr std::int64_t kUnit = 64 << 10;

class Memory final : public HostMemory {
 public:
  explicit Memory(std::int64_t cap_bytes) { arena_.set_cap(cap_bytes); }
  void* allocate_host(std::int64_t bytes) override { return arena_.allocate(bytes); }
  void free_host(void* host) override { arena_.free(host); }
  void set_host_cap(std::int64_t bytes) override { arena_.set_cap(bytes); }
  std::int64_t host_held_bytes() const override { return arena_.held_bytes(); }
  std::int64_t host_peak_bytes() const override { return arena_.peak_bytes(); }
  bool is_host_written(const void* host) override { return !unwritten.contains(host); }
  void wait_for_host(const void* host) override { unwritten.erase(host); }
  void wait_for_freed_host() override { ++waits_for_freed; }

  // Copies by the device that are not done.
  std::set<const void*> unwritten;
  int waits_for_freed = 0;

 private:
  static void* allocate_chunk(std::int64_t bytes) {
    return std::aligned_alloc(tier::HostArena::kGranularityBytes, static_cast<std::size_t>(bytes));
  }
  tier::HostArena arena_{allocate_chunk, [](void* chunk, std::int64_t) { std::free(chunk); }};
};

class HostCacheTest : public testing::Test {
 protected:
  static constexpr std::int64_t kCap = 4 * kUnit;

  void open_file(std::int64_t cap_bytes) {
    file = std::make_shared<tier::SpillFile>(
        tier::SpillOptions{.folder = folder.path(),
                           .cap_bytes = cap_bytes,
                           .piece_bytes = kUnit / 2,
                           .wrap_io = [this](auto io) {
                             return std::make_unique<tier::FaultyIo>(std::move(io), plan);
                           }});
    cache.set_file(file, kCap);
  }
  ~HostCacheTest() override {
    for (HostCopy& copy : copies) cache.free(copy);
  }

  // A copy full of this number.
  HostCopy* store(int number) {
    HostCopy& copy = copies.emplace_back();
    void* host = cache.allocate(copy, kUnit);
    if (host == nullptr) return nullptr;
    std::memset(host, number, kUnit);
    cache.write_behind();
    return &copy;
  }
  testing::AssertionResult holds(HostCopy& copy, int number) {
    const auto* bytes = static_cast<const unsigned char*>(cache.bytes(copy));
    for (std::int64_t i = 0; i < kUnit; ++i) {
      if (bytes[i] != number) return testing::AssertionFailure() << "at byte " << i;
    }
    return testing::AssertionSuccess();
  }

  tier::TempFolder folder;
  FaultPlan plan;
  Memory memory{kCap};
  std::shared_ptr<tier::SpillFile> file;
  HostCache cache{memory};
  std::deque<HostCopy> copies;
};

TEST_F(HostCacheTest, WithoutAFileItHoldsWhatFits) {
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(store(i));
  EXPECT_FALSE(store(4));
  cache.free(copies[1]);
  EXPECT_TRUE(copies[1].is_empty());
  EXPECT_TRUE(store(5));
  EXPECT_TRUE(holds(copies[0], 0));
  EXPECT_FALSE(store(6));
}

TEST_F(HostCacheTest, SpareCopiesGoFirstTheOldestFirst) {
  for (int i = 0; i < 4; ++i) store(i);
  cache.set_spare(copies[2], true);
  cache.set_spare(copies[1], true);
  EXPECT_TRUE(store(4));
  EXPECT_TRUE(copies[2].is_empty());
  EXPECT_FALSE(copies[1].is_empty());
  cache.set_spare(copies[1], false);
  EXPECT_FALSE(store(5));
}

TEST_F(HostCacheTest, WithAFileItHoldsFarMore) {
  open_file(64 * kUnit);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(store(i)) << i;
  EXPECT_LE(memory.host_peak_bytes(), kCap);
  EXPECT_TRUE(copies[0].is_in_file());
  EXPECT_FALSE(copies[19].is_in_file()) << "the newest are in memory";
  for (int i = 20; i-- > 0;) EXPECT_TRUE(holds(copies[static_cast<std::size_t>(i)], i));
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(holds(copies[static_cast<std::size_t>(i)], i));
  EXPECT_GT(memory.waits_for_freed, 0);
  EXPECT_LE(memory.host_peak_bytes(), kCap);
}

TEST_F(HostCacheTest, WritingBeginsWhenHalfTheMemoryIsTaken) {
  open_file(64 * kUnit);
  store(0);
  store(1);
  EXPECT_EQ(file->stats().held_bytes, 0);
  store(2);
  EXPECT_EQ(file->stats().held_bytes, kUnit);
}

TEST_F(HostCacheTest, WhatIsSentToTheFileIsWrittenAtOnce) {
  open_file(64 * kUnit);
  store(0);
  store(1);
  cache.send_to_file(copies[1]);
  EXPECT_EQ(file->stats().held_bytes, kUnit);
  EXPECT_TRUE(holds(copies[1], 1));
}

TEST_F(HostCacheTest, NothingIsWrittenBeforeTheDeviceHasCopiedIt) {
  open_file(64 * kUnit);
  HostCopy& copy = copies.emplace_back();
  void* host = cache.allocate(copy, kUnit);
  memory.unwritten.insert(host);
  cache.send_to_file(copy);
  EXPECT_EQ(file->stats().held_bytes, 0);
  std::memset(host, 7, kUnit);
  memory.unwritten.clear();
  cache.write_behind();
  EXPECT_EQ(file->stats().held_bytes, kUnit);
  for (int i = 0; i < 4; ++i) store(i);
  EXPECT_TRUE(holds(copy, 7));
}

TEST_F(HostCacheTest, AReadIsBegunAheadAndWaitedForByAnyone) {
  open_file(64 * kUnit);
  for (int i = 0; i < 8; ++i) store(i);
  ASSERT_TRUE(copies[0].is_in_file());
  EXPECT_FALSE(cache.is_at_hand(copies[0]));
  EXPECT_EQ(cache.reading(copies[0]), nullptr);
  // Room for it comes when what is being written has been.
  while (cache.reading(copies[0]) == nullptr && !cache.is_at_hand(copies[0])) {
    cache.start_reading(copies[0]);
  }
  if (const tier::SpilledP reading = cache.reading(copies[0])) reading->wait();
  EXPECT_TRUE(cache.is_at_hand(copies[0]));
  EXPECT_TRUE(holds(copies[0], 0));
}

TEST_F(HostCacheTest, WhatComesNextIsReadAhead) {
  open_file(64 * kUnit);
  for (int i = 0; i < 16; ++i) store(i);
  // After this all of them are written.
  for (std::size_t i = 0; i < 16; ++i) cache.bytes(copies[i]);
  for (const bool is_forward : {false, true}) {
    int ahead = 0;
    for (std::size_t n = 0; n < 12; ++n) {
      const std::size_t i = is_forward ? n : 11 - n;
      ahead += cache.is_at_hand(copies[i]) || cache.reading(copies[i]) ? 1 : 0;
      cache.want(copies[i]);
      EXPECT_TRUE(holds(copies[i], static_cast<int>(i)));
    }
    // The direction is seen with the second.
    EXPECT_GE(ahead, 8);
  }
  EXPECT_LE(memory.host_peak_bytes(), kCap);
}

TEST_F(HostCacheTest, WhatIsFreedWhileItIsWrittenKeepsItsMemoryUntilThen) {
  open_file(64 * kUnit);
  for (int round = 0; round < 50; ++round) {
    HostCopy* copy = store(round);
    ASSERT_TRUE(copy);
    cache.send_to_file(*copy);
    cache.free(*copy);
    HostCopy* other = store(round + 100);
    ASSERT_TRUE(other);
    EXPECT_TRUE(holds(*other, round + 100));
    cache.free(*other);
  }
  cache.set_file(nullptr, kCap);
  EXPECT_EQ(memory.host_held_bytes(), 0);
  EXPECT_EQ(file->stats().held_bytes, 0);
}

TEST_F(HostCacheTest, ValuesStayInAFileThatIsReplaced) {
  open_file(64 * kUnit);
  for (int i = 0; i < 8; ++i) store(i);
  const std::weak_ptr<tier::SpillFile> old = file;
  file.reset();
  cache.set_file(nullptr, kCap);
  EXPECT_FALSE(old.expired());
  EXPECT_TRUE(holds(copies[0], 0));
  for (HostCopy& copy : copies) cache.free(copy);
  cache.set_file(nullptr, kCap);
  EXPECT_TRUE(old.expired());
}

TEST_F(HostCacheTest, AFullFileIsNoFailure) {
  open_file(2 * kUnit);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(store(i)) << i;
  EXPECT_FALSE(store(5)) << "or nothing could be read any more";
  EXPECT_FALSE(cache.has_given_up());
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(holds(copies[static_cast<std::size_t>(i)], i));
}

TEST_F(HostCacheTest, WhatCannotBeWrittenStaysInMemory) {
  plan = {.fault = Fault::kNoSpace, .for_good = true};
  open_file(64 * kUnit);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(store(i));
  EXPECT_FALSE(store(4));
  EXPECT_TRUE(cache.has_given_up());
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(holds(copies[static_cast<std::size_t>(i)], i));
}

TEST_F(HostCacheTest, AWriteThatFailsOnceIsTriedAgain) {
  plan = {.fault = Fault::kWriteError};
  open_file(64 * kUnit);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(store(i));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(holds(copies[static_cast<std::size_t>(i)], i));
  EXPECT_FALSE(cache.has_given_up());
  EXPECT_EQ(file->stats().failed_writes, 1);
}

TEST_F(HostCacheTest, WhatCannotBeReadIsSaidEachTimeUntilItCan) {
  open_file(64 * kUnit);
  for (int i = 0; i < 8; ++i) store(i);
  // After this all of them are written, and nothing is busy.
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(holds(copies[static_cast<std::size_t>(i)], i));
  ASSERT_TRUE(copies[0].is_in_file());
  plan = {.fault = Fault::kReadError, .for_good = true};
  EXPECT_THROW(cache.bytes(copies[0]), IoError);
  EXPECT_THROW(cache.bytes(copies[0]), IoError);
  plan.fault = Fault::kNone;
  EXPECT_TRUE(holds(copies[0], 0));
}

TEST_F(HostCacheTest, WithoutMemoryToReadToThatIsSaid) {
  open_file(64 * kUnit);
  for (int i = 0; i < 8; ++i) store(i);
  for (std::size_t i = 4; i < 8; ++i) cache.free(copies[i]);
  while (memory.host_held_bytes() > 0) {
    cache.write_behind();
    memory.set_host_cap(0);
    HostCopy none;
    EXPECT_EQ(cache.allocate(none, kUnit), nullptr);
  }
  EXPECT_THROW(cache.bytes(copies[0]), OutOfMemory);
  memory.set_host_cap(kCap);
  EXPECT_TRUE(holds(copies[0], 0));
}

// Copies come, go, are used and come back at random, against a plain list of what they hold.
TEST_F(HostCacheTest, GivesBackWhatWasStoredWhateverHappens) {
  constexpr std::uint64_t kSeed = 5;
  open_file(32 * kUnit);
  base::Random random(kSeed);
  std::deque<std::pair<HostCopy, int>> values;
  for (int round = 0; round < 2000; ++round) {
    const auto pick = [&]() -> auto& { return values[random.below(values.size())]; };
    switch (values.empty() ? 0 : random.below(6)) {
      case 0: {
        auto& [copy, number] = values.emplace_back();
        number = static_cast<int>(random.below(256));
        void* host = cache.allocate(copy, kUnit);
        if (host == nullptr) {
          values.pop_back();
          break;
        }
        std::memset(host, number, kUnit);
        cache.write_behind();
        break;
      }
      case 1:
        cache.send_to_file(pick().first);
        break;
      case 2:
        cache.start_reading(pick().first);
        break;
      case 3:
        if (values.size() > 12) {
          cache.free(values.front().first);
          values.pop_front();
        }
        break;
      default: {
        auto& [copy, number] = pick();
        ASSERT_TRUE(holds(copy, number)) << "round " << round;
      }
    }
    ASSERT_LE(memory.host_held_bytes(), kCap);
  }
  for (auto& [copy, number] : values) {
    EXPECT_TRUE(holds(copy, number));
    cache.free(copy);
  }
}

}  // namespace
}  // namespace lowtide::engine
