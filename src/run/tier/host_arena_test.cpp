// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/tier/host_arena.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "lowtide/errors.h"

namespace lowtide::tier {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kChunk = HostArena::kChunkBytes;
constexpr std::int64_t kUnit = HostArena::kGranularityBytes;

std::uintptr_t address_of(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

// Chunks that are addresses only. They touch each other, so a join across chunks would show.
class FakeChunks {
 public:
  HostArena make_arena(std::int64_t cap_bytes) {
    return HostArena([this](std::int64_t bytes) { return add(bytes); },
                     [this](void* chunk, std::int64_t bytes) { remove(chunk, bytes); }, cap_bytes);
  }

  void* add(std::int64_t bytes) {
    if (refuses) return nullptr;
    const std::uintptr_t address = next_;
    next_ += static_cast<std::uintptr_t>(bytes);
    sizes.emplace(address, bytes);
    return reinterpret_cast<void*>(address);
  }

  void remove(void* chunk, std::int64_t bytes) {
    const auto found = sizes.find(address_of(chunk));
    ASSERT_NE(found, sizes.end());
    EXPECT_EQ(found->second, bytes);
    sizes.erase(found);
  }

  bool refuses = false;
  std::map<std::uintptr_t, std::int64_t> sizes;

 private:
  std::uintptr_t next_ = std::uintptr_t{1} << 40;
};

TEST(HostArena, TakesAChunkAndHandsOutRoundedRangesOfIt) {
  FakeChunks chunks;
  HostArena arena = chunks.make_arena(HostArena::kNoCap);
  void* first = arena.allocate(1);
  void* second = arena.allocate(kUnit + 1);
  EXPECT_EQ(address_of(second) - address_of(first), static_cast<std::uintptr_t>(kUnit));
  EXPECT_EQ(arena.held_bytes(), 3 * kUnit);
  EXPECT_EQ(arena.reserved_bytes(), kChunk);
  arena.free(first);
  arena.free(second);
  EXPECT_EQ(arena.held_bytes(), 0);
  EXPECT_EQ(arena.peak_bytes(), 3 * kUnit);
}

TEST(HostArena, EveryRangeHasAnAddressOfItsOwnEvenOfNoBytes) {
  FakeChunks chunks;
  HostArena arena = chunks.make_arena(HostArena::kNoCap);
  EXPECT_NE(arena.allocate(0), arena.allocate(0));
}

TEST(HostArena, ALargeRequestGetsAChunkOfItsSize) {
  FakeChunks chunks;
  HostArena arena = chunks.make_arena(HostArena::kNoCap);
  EXPECT_NE(arena.allocate(2 * kChunk + 1), nullptr);
  EXPECT_EQ(arena.reserved_bytes(), 2 * kChunk + kUnit);
}

TEST(HostArena, TheLastChunkIsWhatTheCapLeaves) {
  FakeChunks chunks;
  HostArena arena = chunks.make_arena(kChunk + 10 * kMiB + 7);
  EXPECT_NE(arena.allocate(kChunk), nullptr);
  EXPECT_NE(arena.allocate(4 * kMiB), nullptr);
  EXPECT_EQ(arena.reserved_bytes(), kChunk + 10 * kMiB);
  EXPECT_NE(arena.allocate(6 * kMiB), nullptr);
  EXPECT_EQ(arena.allocate(1), nullptr);
  EXPECT_EQ(arena.allocate(HostArena::kNoCap), nullptr);
}

TEST(HostArena, TakesTheSmallestRangeThatFits) {
  FakeChunks chunks;
  HostArena arena = chunks.make_arena(HostArena::kNoCap);
  void* large = arena.allocate(3 * kMiB);
  void* wall = arena.allocate(kMiB);
  void* small = arena.allocate(2 * kMiB);
  arena.allocate(kMiB);
  arena.free(large);
  arena.free(small);
  EXPECT_EQ(arena.allocate(2 * kMiB), small);
  EXPECT_EQ(arena.allocate(2 * kMiB), large);
  arena.free(wall);
}

TEST(HostArena, EmptyChunksMakeWayForALargerOne) {
  FakeChunks chunks;
  HostArena arena = chunks.make_arena(2 * kChunk);
  arena.free(arena.allocate(kMiB));
  EXPECT_NE(arena.allocate(2 * kChunk), nullptr);
  EXPECT_EQ(chunks.sizes.size(), 1U);
}

TEST(HostArena, NullWhenTheHostHasNoMemoryLeft) {
  FakeChunks chunks;
  HostArena arena = chunks.make_arena(HostArena::kNoCap);
  chunks.refuses = true;
  EXPECT_EQ(arena.allocate(1), nullptr);
  EXPECT_EQ(arena.reserved_bytes(), 0);
  chunks.refuses = false;
  EXPECT_NE(arena.allocate(1), nullptr);
}

TEST(HostArena, ALowerCapRefusesAndTakesNothingBack) {
  FakeChunks chunks;
  HostArena arena = chunks.make_arena(HostArena::kNoCap);
  void* data = arena.allocate(10 * kMiB);
  arena.set_cap(5 * kMiB);
  EXPECT_EQ(arena.allocate(kUnit), nullptr);
  EXPECT_EQ(arena.held_bytes(), 10 * kMiB);
  arena.free(data);
  EXPECT_NE(arena.allocate(5 * kMiB), nullptr);
  EXPECT_EQ(arena.allocate(kUnit), nullptr);
}

TEST(HostArena, ReservesOnceAndWithinItsCap) {
  FakeChunks chunks;
  HostArena arena = chunks.make_arena(3 * kChunk);
  arena.reserve(2 * kChunk + 1);
  EXPECT_EQ(arena.reserved_bytes(), 2 * kChunk);
  arena.reserve(kChunk);
  EXPECT_EQ(arena.reserved_bytes(), 2 * kChunk);
  void* range = arena.allocate(2 * kChunk);
  EXPECT_EQ(chunks.sizes.size(), 1U);
  arena.reserve(9 * kChunk);
  EXPECT_EQ(arena.reserved_bytes(), 3 * kChunk);
  chunks.refuses = true;
  arena.free(range);
  arena.reserve(3 * kChunk);
}

TEST(HostArena, RefusesToFreeWhatIsNotOut) {
  FakeChunks chunks;
  HostArena arena = chunks.make_arena(HostArena::kNoCap);
  void* data = arena.allocate(kMiB);
  arena.free(nullptr);
  arena.free(data);
  EXPECT_THROW(arena.free(data), InternalError);
  EXPECT_THROW(arena.free(&chunks), InternalError);
}

TEST(HostArena, GivesItsChunksBackWhenItGoes) {
  FakeChunks chunks;
  {
    HostArena arena = chunks.make_arena(HostArena::kNoCap);
    arena.allocate(kMiB);
  }
  EXPECT_TRUE(chunks.sizes.empty());
}

TEST(HostArena, ThreadsGetRangesThatNoOtherHas) {
  HostArena arena(
      [](std::int64_t bytes) {
        return std::aligned_alloc(static_cast<std::size_t>(kUnit), static_cast<std::size_t>(bytes));
      },
      [](void* chunk, std::int64_t) { std::free(chunk); }, 64 * kMiB);
  const auto work = [&arena](int mark) {
    std::vector<unsigned char*> mine;
    for (int i = 0; i < 2000; ++i) {
      auto* data = static_cast<unsigned char*>(arena.allocate(1024));
      ASSERT_NE(data, nullptr);
      std::memset(data, mark, 1024);
      mine.push_back(data);
      if (i % 3 != 0) continue;
      EXPECT_EQ(mine.front()[1023], mark);
      arena.free(mine.front());
      mine.erase(mine.begin());
    }
    for (unsigned char* data : mine) arena.free(data);
  };
  std::vector<std::thread> threads;
  for (int mark = 1; mark <= 4; ++mark) threads.emplace_back(work, mark);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(arena.held_bytes(), 0);
}

// What should be true of an arena, worked out from nothing but the ranges that are out.
class Model {
 public:
  Model(FakeChunks& chunks, HostArena& arena) : chunks_(chunks), arena_(arena) {}

  void allocate(std::int64_t bytes) {
    const std::int64_t rounded = std::max<std::int64_t>(bytes + kUnit - 1, kUnit) / kUnit * kUnit;
    const std::optional<std::int64_t> gap = best_gap(rounded);
    const std::int64_t room = (arena_.cap_bytes() - bytes_in_use_chunks()) / kUnit * kUnit;
    const bool fits = held() + rounded <= arena_.cap_bytes() && (gap || rounded <= room);
    void* data = arena_.allocate(bytes);
    RC_ASSERT((data != nullptr) == fits);
    if (data == nullptr) return;
    if (gap) RC_ASSERT(gap_around(address_of(data)) == *gap);
    out_.emplace(address_of(data), rounded);
    peak_ = std::max(peak_, held());
  }

  void free(std::size_t choice) {
    if (out_.empty()) return;
    const auto chosen = std::next(out_.begin(), static_cast<std::ptrdiff_t>(choice % out_.size()));
    arena_.free(reinterpret_cast<void*>(chosen->first));
    out_.erase(chosen);
  }

  void check() const {
    std::uintptr_t end = 0;
    for (const auto& [address, bytes] : out_) {
      RC_ASSERT(address >= end);
      end = address + static_cast<std::uintptr_t>(bytes);
      RC_ASSERT(end <= chunk_end(address));
    }
    RC_ASSERT(arena_.held_bytes() == held());
    RC_ASSERT(arena_.peak_bytes() == peak_);
    RC_ASSERT(arena_.reserved_bytes() == reserved());
    RC_ASSERT(arena_.reserved_bytes() <= arena_.cap_bytes());
  }

  // All is free again: every chunk must be one range.
  void check_joined() {
    while (!out_.empty()) free(0);
    const auto sizes = chunks_.sizes;
    for (const auto& [address, bytes] : sizes) RC_ASSERT(address_of(arena_.allocate(bytes)) != 0U);
    RC_ASSERT(chunks_.sizes == sizes);
    for (const auto& [address, bytes] : sizes) arena_.free(reinterpret_cast<void*>(address));
    arena_.trim();
    RC_ASSERT(chunks_.sizes.empty());
    RC_ASSERT(arena_.reserved_bytes() == 0);
  }

 private:
  std::int64_t held() const {
    std::int64_t total = 0;
    for (const auto& [address, bytes] : out_) total += bytes;
    return total;
  }
  std::int64_t reserved() const {
    std::int64_t total = 0;
    for (const auto& [address, bytes] : chunks_.sizes) total += bytes;
    return total;
  }
  std::uintptr_t chunk_end(std::uintptr_t address) const {
    const auto above = chunks_.sizes.upper_bound(address);
    RC_ASSERT(above != chunks_.sizes.begin());
    const auto chunk = std::prev(above);
    return chunk->first + static_cast<std::uintptr_t>(chunk->second);
  }
  std::int64_t bytes_in_use_chunks() const {
    std::int64_t total = 0;
    for (const auto& [address, bytes] : chunks_.sizes) {
      const auto first = out_.lower_bound(address);
      const bool is_used = first != out_.end() && first->first < chunk_end(address);
      if (is_used) total += bytes;
    }
    return total;
  }
  // The free ranges by their start.
  std::map<std::uintptr_t, std::int64_t> gaps() const {
    std::map<std::uintptr_t, std::int64_t> found;
    for (const auto& [chunk, chunk_bytes] : chunks_.sizes) {
      const std::uintptr_t end = chunk_end(chunk);
      std::uintptr_t at = chunk;
      for (auto it = out_.lower_bound(chunk); it != out_.end() && it->first < end; ++it) {
        if (it->first > at) found[at] = static_cast<std::int64_t>(it->first - at);
        at = it->first + static_cast<std::uintptr_t>(it->second);
      }
      if (end > at) found[at] = static_cast<std::int64_t>(end - at);
    }
    return found;
  }
  std::optional<std::int64_t> best_gap(std::int64_t bytes) const {
    std::optional<std::int64_t> best;
    for (const auto& [address, gap] : gaps()) {
      if (gap >= bytes && (!best || gap < *best)) best = gap;
    }
    return best;
  }
  // Before the range at `address` is noted in out_.
  std::int64_t gap_around(std::uintptr_t address) const {
    const auto all = gaps();
    const auto found = all.find(address);
    RC_ASSERT(found != all.end());
    return found->second;
  }

  FakeChunks& chunks_;
  HostArena& arena_;
  std::map<std::uintptr_t, std::int64_t> out_;
  std::int64_t peak_ = 0;
};

RC_GTEST_PROP(HostArenaProperty, BehavesAsTheNaiveModel, ()) {
  FakeChunks chunks;
  HostArena arena = chunks.make_arena(*rc::gen::inRange<std::int64_t>(kUnit, 4 * kChunk));
  Model model(chunks, arena);
  const int steps = *rc::gen::inRange(0, 120);
  for (int i = 0; i < steps; ++i) {
    const int kind = *rc::gen::weightedElement<int>({{6, 0}, {4, 1}, {5, 2}, {1, 3}});
    if (kind == 0) model.allocate(*rc::gen::inRange<std::int64_t>(0, 300 * kMiB));
    if (kind == 1) model.allocate(*rc::gen::inRange<std::int64_t>(0, 20 * kUnit));
    if (kind == 2) model.free(*rc::gen::arbitrary<std::size_t>());
    if (kind == 3) arena.trim();
    model.check();
  }
  model.check_joined();
}

}  // namespace
}  // namespace lowtide::tier
