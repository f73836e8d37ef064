// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/page_arena.h"

#include <cstring>
#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "base/random.h"
#include "run/engine/file_mapper.h"

namespace lowtide::engine {
namespace {

class PageArenaTest : public testing::Test {
 protected:
  static constexpr std::int64_t kMost = 64;
  std::int64_t pages_to_make() const { return kMost - arena.pages(); }
  void* allocate_bytes(std::int64_t bytes, std::int64_t new_pages = kMost) {
    mapper.is_idle = false;
    return arena.allocate(bytes, std::min(new_pages, pages_to_make()));
  }
  void* allocate(std::int64_t pages, std::int64_t new_pages = kMost) {
    return allocate_bytes(pages * kPageBytes, new_pages);
  }

  FileMapper mapper{kMost};
  PageArena arena{mapper, kUnitBytes, kMost, [this] { mapper.is_idle = true; }};
};

TEST_F(PageArenaTest, MakesPagesOnlyWhenNoneAreFree) {
  void* a = allocate(10);
  EXPECT_EQ(arena.pages(), 10);
  EXPECT_TRUE(arena.owns(a));
  EXPECT_EQ(arena.free(a), 10 * kPageBytes);
  EXPECT_FALSE(arena.owns(a));
  EXPECT_EQ(allocate(10), a);
  EXPECT_EQ(arena.pages(), 10);
  // What is free at the end is part of a larger block.
  arena.free(a);
  void* larger = allocate(15);
  EXPECT_EQ(arena.pages(), 15);
  arena.free(larger);
}

TEST_F(PageArenaTest, SizesAreRoundedToUnits) {
  EXPECT_EQ(arena.rounded(1), kUnitBytes);
  void* a = allocate_bytes(1);
  void* b = allocate_bytes(3 * kUnitBytes);
  EXPECT_EQ(arena.pages(), 1);
  EXPECT_EQ(arena.free_bytes(), 0);
  EXPECT_EQ(arena.free(a), kUnitBytes);
  EXPECT_EQ(arena.free_pages(), 0);
  arena.free(b);
  EXPECT_EQ(arena.free_pages(), 1);
}

TEST_F(PageArenaTest, SmallBlocksGoToPagesThatAreBroken) {
  void* broken = allocate_bytes(kUnitBytes);
  void* large = allocate(5);
  void* end = allocate_bytes(kUnitBytes);
  arena.free(large);
  void* small = allocate_bytes(2 * kUnitBytes, 0);
  EXPECT_EQ(arena.free_pages(), 5);
  for (void* block : {broken, small, end}) arena.free(block);
}

TEST_F(PageArenaTest, PutsPagesTogetherThatAreApart) {
  void* blocks[4];
  for (void*& block : blocks) block = allocate(10);
  arena.free(blocks[0]);
  arena.free(blocks[2]);
  void* stitched = allocate(20, 0);
  ASSERT_NE(stitched, nullptr);
  EXPECT_EQ(arena.stitches(), 1);
  EXPECT_EQ(arena.pages(), 40);
  EXPECT_EQ(arena.free_bytes(), 0);
  std::memset(stitched, 7, 20 * kPageBytes);
  EXPECT_EQ(allocate(1, 0), nullptr);
  EXPECT_EQ(arena.missing_bytes(3 * kPageBytes), 4 * kPageBytes);
  EXPECT_EQ(arena.missing_bytes(1), kUnitBytes);
  arena.free(stitched);
  // The second time it is there already.
  const int maps = mapper.maps;
  EXPECT_EQ(allocate(20, 0), stitched);
  EXPECT_EQ(mapper.maps, maps);
  arena.free(stitched);
  arena.free(blocks[1]);
  arena.free(blocks[3]);
}

// As the books do it, with blocks that nobody keeps the address of.
bool move_blocks(PageArena& arena, std::int64_t bytes, std::map<void*, std::int64_t>& sizes,
                 const std::function<bool(void*)>& may_move) {
  const std::vector<BlockMove> moves = arena.choose_moves(bytes, may_move);
  for (const BlockMove& move : moves) {
    const std::int64_t size = sizes.extract(move.from).mapped();
    std::memcpy(move.to, move.from, static_cast<std::size_t>(size));
    arena.settle(move, /*is_done=*/true);
    sizes[move.to] = size;
  }
  return !moves.empty();
}

TEST_F(PageArenaTest, BlocksCanBeMovedSoThatARowIsFree) {
  std::map<void*, std::int64_t> sizes;
  std::vector<void*> blocks;
  for (int i = 0; i < 6; ++i) {
    blocks.push_back(allocate_bytes(kPageBytes + kUnitBytes));
    std::memset(blocks.back(), i, kPageBytes + kUnitBytes);
  }
  for (const int i : {0, 2, 4}) arena.free(blocks[static_cast<std::size_t>(i)]);
  for (const int i : {1, 3, 5})
    sizes[blocks[static_cast<std::size_t>(i)]] = kPageBytes + kUnitBytes;
  EXPECT_EQ(arena.allocate(2 * kPageBytes, 0, /*may_stitch=*/false), nullptr);
  EXPECT_FALSE(move_blocks(arena, 2 * kPageBytes, sizes, [](void*) { return false; }));
  const std::int64_t free_bytes = arena.free_bytes();
  EXPECT_FALSE(move_blocks(arena, free_bytes + 1, sizes, [](void*) { return true; }));
  EXPECT_TRUE(move_blocks(arena, 2 * kPageBytes, sizes, [](void*) { return true; }));
  EXPECT_EQ(arena.free_bytes(), free_bytes);
  void* row = arena.allocate(2 * kPageBytes, 0, /*may_stitch=*/false);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(arena.stitches(), 0);
  std::memset(row, 9, 2 * kPageBytes);
  std::set<int> contents;
  for (const auto& [data, bytes] : sizes) {
    const auto* all = static_cast<const unsigned char*>(data);
    contents.insert(all[0]);
    for (std::int64_t i = 0; i < bytes; ++i) ASSERT_EQ(all[i], all[0]);
    EXPECT_EQ(arena.free(data), bytes);
  }
  EXPECT_EQ(contents, (std::set<int>{1, 3, 5}));
  arena.free(row);
  EXPECT_EQ(arena.free_pages(), arena.pages());
}

TEST_F(PageArenaTest, PagesAreEmptiedWhereNoRowCanBe) {
  // Every second unit of eight pages is in use: there is no place for a larger block.
  std::vector<void*> blocks;
  for (int i = 0; i < 32; ++i) blocks.push_back(allocate_bytes(kUnitBytes, 8));
  std::map<void*, std::int64_t> sizes;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i % 2 == 0) {
      arena.free(blocks[i]);
    } else {
      sizes[blocks[i]] = kUnitBytes;
    }
  }
  void* stays = blocks[1];
  ASSERT_EQ(arena.pages(), 8);
  EXPECT_EQ(allocate(3, 0), nullptr);
  // In the middle of any three pages in a row there is one that has to stay.
  const auto may_move = [&](void* data) {
    const auto offset = static_cast<char*>(data) - static_cast<char*>(blocks[0]);
    return data != stays && offset / kPageBytes % 3 != 1;
  };
  EXPECT_TRUE(move_blocks(arena, 3 * kPageBytes, sizes, may_move));
  EXPECT_TRUE(sizes.contains(stays));
  EXPECT_EQ(arena.allocate(3 * kPageBytes, 0, /*may_stitch=*/false), nullptr);
  void* stitched = allocate(3, 0);
  ASSERT_NE(stitched, nullptr);
  EXPECT_EQ(arena.stitches(), 1);
  arena.free(stitched);
  for (const auto& [data, bytes] : sizes) EXPECT_EQ(arena.free(data), bytes);
  EXPECT_EQ(arena.free_pages(), arena.pages());
}

// Moving others may do the rest.
TEST_F(PageArenaTest, PagesThatAreNotEnoughAreMadeAllTheSame) {
  void* first = allocate_bytes(kPageBytes + kUnitBytes);
  void* second = allocate_bytes(kPageBytes);
  arena.free(first);
  EXPECT_EQ(allocate(10, 3), nullptr);
  EXPECT_EQ(arena.pages(), 6);
  arena.free(second);
}

// What blocks were filled with.
struct Filled {
  std::int64_t bytes;
  unsigned char byte;
};
using FilledBlocks = std::map<void*, Filled>;

void fill(FilledBlocks& blocks, void* block, std::int64_t bytes, base::Random& random) {
  const auto byte = static_cast<unsigned char>(random.below(256));
  std::memset(block, byte, static_cast<std::size_t>(bytes));
  ASSERT_TRUE(blocks.emplace(block, Filled{bytes, byte}).second);
}

// Any of them, which must still have what it was filled with. Returns its size.
std::int64_t free_one(PageArena& arena, FilledBlocks& blocks, base::Random& random) {
  auto block = blocks.begin();
  std::advance(block, random.below(blocks.size()));
  const auto [data, filled] = *block;
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::int64_t at = 0; at < filled.bytes; at += kUnitBytes / 2) {
    EXPECT_EQ(bytes[at], filled.byte);
  }
  EXPECT_EQ(arena.free(data), filled.bytes);
  blocks.erase(block);
  return filled.bytes;
}

TEST_F(PageArenaTest, ContentsSurviveAllMoves) {
  base::Random random(8);
  FilledBlocks blocks;
  int moved = 0;
  for (int i = 0; i < 6000; ++i) {
    if (!blocks.empty() && random.below(5) < 2) {
      free_one(arena, blocks, random);
      ASSERT_FALSE(HasFailure());
      continue;
    }
    const auto bytes = static_cast<std::int64_t>(1 + random.below(60)) * kUnitBytes;
    mapper.is_idle = false;
    void* block = arena.allocate(bytes, pages_to_make(), /*may_stitch=*/false);
    if (block == nullptr) {
      const auto may_move = [&](void* data) {
        return blocks.contains(data) &&
               reinterpret_cast<std::uintptr_t>(data) / kUnitBytes % 5 != 0;
      };
      for (const BlockMove& move : arena.choose_moves(bytes, may_move)) {
        // Now and then it is in use by then.
        const bool is_done = random.below(10) > 0;
        if (is_done) {
          auto filled = blocks.extract(move.from);
          std::memcpy(move.to, move.from, static_cast<std::size_t>(filled.mapped().bytes));
          filled.key() = move.to;
          ASSERT_TRUE(blocks.insert(std::move(filled)).inserted);
          ++moved;
        }
        arena.settle(move, is_done);
      }
      block = arena.allocate(bytes, pages_to_make());
    }
    if (block != nullptr) fill(blocks, block, bytes, random);
  }
  EXPECT_GT(moved, 100);
  for (const auto& [block, filled] : blocks) EXPECT_EQ(arena.free(block), filled.bytes);
  EXPECT_EQ(arena.free_pages(), arena.pages());
}

TEST_F(PageArenaTest, ABlockThatWasNotMovedAfterAllStays) {
  void* blocks[3];
  for (void*& block : blocks) block = allocate(2);
  arena.free(blocks[0]);
  arena.free(blocks[2]);
  const std::int64_t free_bytes = arena.free_bytes();
  const auto moves = arena.choose_moves(3 * kPageBytes, [](void*) { return true; });
  ASSERT_EQ(moves.size(), 1);
  EXPECT_EQ(arena.free_bytes(), free_bytes - 2 * kPageBytes);
  arena.settle(moves.front(), /*is_done=*/false);
  EXPECT_EQ(arena.free_bytes(), free_bytes);
  EXPECT_TRUE(arena.owns(blocks[1]));
  EXPECT_EQ(arena.free(blocks[1]), 2 * kPageBytes);
}

TEST_F(PageArenaTest, AStitchEndsInAPageThatOthersUseToo) {
  void* blocks[4];
  for (void*& block : blocks) block = allocate(2);
  arena.free(blocks[0]);
  arena.free(blocks[2]);
  auto* stitched = static_cast<unsigned char*>(allocate_bytes(3 * kPageBytes + kUnitBytes, 0));
  ASSERT_NE(stitched, nullptr);
  EXPECT_EQ(arena.free_bytes(), 3 * kUnitBytes);
  auto* small = static_cast<unsigned char*>(allocate_bytes(3 * kUnitBytes, 0));
  ASSERT_NE(small, nullptr);
  std::memset(small, 1, 3 * kUnitBytes);
  std::memset(stitched, 2, 3 * kPageBytes + kUnitBytes);
  EXPECT_EQ(small[0], 1);
  EXPECT_EQ(small[3 * kUnitBytes - 1], 1);
  for (void* block :
       {static_cast<void*>(stitched), static_cast<void*>(small), blocks[1], blocks[3]})
    arena.free(block);
  EXPECT_EQ(arena.free_pages(), 8);
}

TEST_F(PageArenaTest, GivesPagesBackAndForgetsTheirStitches) {
  void* blocks[4];
  for (void*& block : blocks) block = allocate(10);
  arena.free(blocks[1]);
  arena.free(blocks[3]);
  void* stitched = allocate(20, 0);
  arena.free(stitched);
  EXPECT_EQ(arena.shrink(15), 15);
  EXPECT_EQ(arena.pages(), 25);
  EXPECT_EQ(mapper.made.size(), 25U);
  EXPECT_EQ(allocate(20, 0), nullptr);
  // Room for it again, in the hole, which is too small, and at the end.
  void* again = allocate(20);
  EXPECT_NE(again, nullptr);
  arena.free(again);
  EXPECT_EQ(arena.shrink(1000), 30);
  arena.free(blocks[0]);
  arena.free(blocks[2]);
  EXPECT_EQ(arena.shrink(1000), 20);
  EXPECT_TRUE(mapper.made.empty());
  // Only home is left.
  EXPECT_EQ(mapper.reservations, 1);
}

TEST_F(PageArenaTest, KnowsWhatIsNotItsOwn) {
  int other = 0;
  EXPECT_EQ(arena.free(&other), 0);
  EXPECT_EQ(allocate(kMost + 1), nullptr);
}

TEST_F(PageArenaTest, AFailedMappingLosesNothing) {
  void* a = allocate(4);
  void* b = allocate(4);
  void* c = allocate(4);
  arena.free(a);
  arena.free(c);
  mapper.fails = true;
  EXPECT_THROW(allocate(8, 0), std::runtime_error);
  EXPECT_THROW(allocate(30), std::runtime_error);
  EXPECT_EQ(arena.free_pages(), 8);
  EXPECT_EQ(mapper.made.size(), 12U);
  mapper.fails = false;
  void* stitched = allocate(8, 0);
  EXPECT_NE(stitched, nullptr);
  arena.free(stitched);
  arena.free(b);
}

// Whatever is asked for and freed: a block fails only for want of whole pages, and keeps what was
// written to it, so no two blocks share a byte.
TEST_F(PageArenaTest, ManyBlocksKeepTheirContents) {
  base::Random random(3);
  FilledBlocks blocks;
  std::int64_t used = 0;
  for (int i = 0; i < 20000; ++i) {
    const bool frees = !blocks.empty() && random.below(2) == 0;
    if (frees) {
      used -= free_one(arena, blocks, random);
      ASSERT_FALSE(HasFailure());
    } else {
      const auto units = static_cast<std::int64_t>(1 + random.below(random.below(2) == 0 ? 6 : 80));
      const std::int64_t bytes = units * kUnitBytes;
      const std::int64_t whole_pages = arena.free_pages() + pages_to_make();
      void* block = allocate_bytes(bytes);
      if (whole_pages > bytes / kPageBytes) {
        ASSERT_NE(block, nullptr);
      }
      if (block == nullptr) continue;
      fill(blocks, block, bytes, random);
      used += bytes;
    }
    ASSERT_EQ(arena.pages() * kPageBytes - arena.free_bytes(), used);
    if (random.below(200) == 0) arena.shrink(static_cast<std::int64_t>(random.below(10)));
  }
  EXPECT_GT(arena.stitches(), 10);
  for (const auto& [block, filled] : blocks) arena.free(block);
  EXPECT_EQ(arena.free_pages(), arena.pages());
}

}  // namespace
}  // namespace lowtide::engine
