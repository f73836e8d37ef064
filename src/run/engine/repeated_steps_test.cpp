// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// What the arena makes of steps that ask for the same blocks again and again.
#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "run/engine/file_mapper.h"
#include "run/engine/page_arena.h"

namespace lowtide::engine {
namespace {

// A training step that is repeated: layers keep blocks until they go backward, a few huge blocks
// come in between, and what the optimizer leaves behind goes layer by layer in the next step.
class RepeatedStep {
 public:
  explicit RepeatedStep(std::uint64_t seed, std::uint64_t most_state_units = 12) {
    base::Random random(seed);
    const auto some = [&](std::uint64_t least, std::uint64_t most) {
      return static_cast<std::int64_t>(least + random.below(most - least + 1)) * kUnitBytes;
    };
    for (int i = 0; i < kLayers; ++i) {
      layers_.push_back({some(1, 12), some(4, 24), some(2, 12), some(2, most_state_units)});
    }
    huge_ = {some(80, 100), some(160, 200), some(80, 100)};
  }

  template <class Allocate, class Free>
  void run(const Allocate& allocate, const Free& free) {
    std::vector<void*> kept;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      void* passing = allocate(layers_[i].passing);
      kept.push_back(allocate(layers_[i].kept));
      free(passing);
      if (i < states_.size()) free(states_[i]);
    }
    states_.clear();
    void* logits = allocate(huge_[0]);
    void* losses = allocate(huge_[1]);
    free(logits);
    void* gradients = allocate(huge_[2]);
    free(losses);
    std::vector<void*> weights;
    for (std::size_t i = layers_.size(); i-- > 0;) {
      void* passing = allocate(layers_[i].passing);
      weights.push_back(allocate(layers_[i].weights));
      free(kept[i]);
      free(passing);
      if (i == layers_.size() - 2) free(gradients);
    }
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      states_.push_back(allocate(layers_[i].states));
      free(weights[i]);
    }
  }

  // What lives on into the next step.
  std::vector<void*>& states() { return states_; }

 private:
  static constexpr int kLayers = 40;
  struct Layer {
    std::int64_t kept;
    std::int64_t passing;
    std::int64_t weights;
    std::int64_t states;
  };
  std::vector<Layer> layers_;
  std::vector<std::int64_t> huge_;
  std::vector<void*> states_;
};

// After two steps that were alike their blocks are laid out, and a few later they lie there.
TEST(RepeatedSteps, MakeNoStitchesBeforeLong) {
  constexpr std::int64_t kMost = 160;
  constexpr int kSteps = 10;
  std::int64_t stitches = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    FileMapper mapper{kMost};
    PageArena arena{mapper, kUnitBytes, kMost, [&] { mapper.is_idle = true; }};
    RepeatedStep step(seed);
    std::set<void*> blocks;
    std::int64_t stitches_before = 0;
    for (int i = 0; i < kSteps; ++i) {
      if (i == kSteps - 2) stitches_before = arena.stitches();
      step.run(
          [&](std::int64_t bytes) {
            mapper.is_idle = false;
            void* block = arena.allocate(bytes, kMost - arena.pages());
            EXPECT_NE(block, nullptr);
            blocks.insert(block);
            return block;
          },
          [&](void* block) {
            arena.free(block);
            blocks.erase(block);
          });
      arena.begin_step();
    }
    EXPECT_EQ(arena.stitches(), stitches_before) << "seed " << seed;
    stitches += arena.stitches();
    for (void* block : blocks) arena.free(block);
  }
  EXPECT_GT(stitches, 0);
}

// Blocks whose first byte says how many units they have.
void mark(void* block, std::int64_t bytes) {
  *static_cast<unsigned char*>(block) = static_cast<unsigned char>(bytes / kUnitBytes);
}
std::int64_t marked_bytes(const void* block) {
  return *static_cast<const unsigned char*>(block) * kUnitBytes;
}

// Takes them there as the books do. Returns how many were moved.
int carry_out(PageArena& arena, const std::vector<BlockMove>& moves, std::vector<void*>& blocks) {
  for (const BlockMove& move : moves) {
    std::memcpy(move.to, move.from, static_cast<std::size_t>(marked_bytes(move.from)));
    arena.settle(move, /*is_done=*/true);
    std::replace(blocks.begin(), blocks.end(), move.from, move.to);
  }
  return static_cast<int>(moves.size());
}

// Some of which do not know where they are: these may be moved.
class MovingArena {
 public:
  explicit MovingArena(std::int64_t most_pages) : most_pages_(most_pages), mapper_(most_pages) {}

  // Moves others, or, if that does not help, stitches.
  void* allocate(std::int64_t bytes) {
    mapper_.is_idle = false;
    const auto try_it = [&](bool may_stitch) {
      return arena.allocate(bytes, most_pages_ - arena.pages(), may_stitch);
    };
    void* block = try_it(arena.is_laid_out());
    if (block == nullptr) {
      moved += carry_out(arena, arena.choose_moves(bytes, may_move()), movable);
      block = try_it(true);
    }
    EXPECT_NE(block, nullptr);
    mark(block, bytes);
    return block;
  }
  void free(void* block) {
    const std::int64_t bytes = marked_bytes(block);
    EXPECT_EQ(arena.free(block), bytes);
  }
  void begin_step() {
    arena.begin_step();
    int in_round = 0;
    do {
      in_round = carry_out(arena, arena.choose_homecomings(may_move()), movable);
      moved += in_round;
    } while (in_round > 0);
  }

 private:
  std::function<bool(void*)> may_move() {
    return [this](void* data) { return std::count(movable.begin(), movable.end(), data) == 1; };
  }

  const std::int64_t most_pages_;
  FileMapper mapper_;

 public:
  // There is room for more pages than it may have.
  PageArena arena{mapper_, kUnitBytes, 3 * most_pages_, [this] { mapper_.is_idle = true; }};
  std::vector<void*> movable;
  int moved = 0;
};

// An earlier session, of which pages here and there are left.
void leave_holes(MovingArena& blocks, std::int64_t pages) {
  constexpr std::int64_t kTogether = 8;
  std::vector<void*> all;
  for (std::int64_t i = 0; i < pages; ++i) {
    all.push_back(blocks.arena.allocate(blocks.arena.page_bytes(), pages));
  }
  for (const bool is_first : {true, false}) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((i / kTogether % 2 == 0) == is_first) blocks.arena.free(all[i]);
    }
    if (is_first) {
      EXPECT_GT(blocks.arena.shrink(pages), 0);
    }
  }
}

// Small blocks that came between the others of the first step stay for good, and are in the way of
// rows for the huge ones until they lie together.
void expect_rest_once_laid_out(std::int64_t most_pages, std::uint64_t most_state_units) {
  int moved = 0;
  int laid_out = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    MovingArena blocks(most_pages);
    base::Random random(seed);
    RepeatedStep step(seed, most_state_units);
    if (seed % 2 == 1) leave_holes(blocks, most_pages / 2);
    std::int64_t makeshifts_before = -1;
    for (int i = 0; i < 12; ++i) {
      // What lives on from step to step is at the end of the list.
      const std::size_t staying = blocks.movable.size() - step.states().size();
      step.states().assign(blocks.movable.begin() + static_cast<std::ptrdiff_t>(staying),
                           blocks.movable.end());
      blocks.movable.resize(staying);
      step.run(
          [&](std::int64_t bytes) {
            if (i == 0 && random.below(4) == 0) {
              blocks.movable.push_back(blocks.allocate(kUnitBytes));
            }
            return blocks.allocate(bytes);
          },
          [&](void* block) { blocks.free(block); });
      blocks.movable.insert(blocks.movable.end(), step.states().begin(), step.states().end());
      const auto makeshifts = [&] { return blocks.arena.stitches() + blocks.moved; };
      if (makeshifts_before >= 0) {
        EXPECT_EQ(makeshifts(), makeshifts_before) << "seed " << seed << ", step " << i;
      }
      blocks.begin_step();
      if (blocks.arena.is_laid_out()) makeshifts_before = makeshifts();
    }
    moved += blocks.moved;
    // What pages are given back is laid out no more.
    const bool was_laid_out = blocks.arena.is_laid_out();
    EXPECT_GT(blocks.arena.shrink(1), 0);
    EXPECT_FALSE(blocks.arena.is_laid_out());
    blocks.begin_step();
    laid_out += was_laid_out ? 1 : 0;
    for (void* block : blocks.movable) blocks.free(block);
  }
  EXPECT_GT(moved, 0);
  EXPECT_GT(laid_out, 10);
}

TEST(RepeatedSteps, NeitherStitchNorMoveOnceTheyAreLaidOut) { expect_rest_once_laid_out(170, 12); }

// What lives on into the next step takes most of the room, and must come home in what is left.
TEST(RepeatedSteps, ComeToRestWithLittleRoomBetweenThem) { expect_rest_once_laid_out(200, 20); }

// Something in the middle must stay where it is, so that a block of each step has to be moved to
// make a row; and no more than two steps one after the other are alike.
TEST(RepeatedSteps, OfWhichNoTwoAreAlikeForLongAreNotLaidOutInVainAgainAndAgain) {
  constexpr int kSteps = 60;
  MovingArena blocks(3);
  void* filler = blocks.allocate(5 * kUnitBytes);
  void* middle = blocks.allocate(kUnitBytes);
  blocks.free(filler);
  for (int i = 0; i < kSteps; ++i) {
    void* first = blocks.allocate(5 * kUnitBytes);
    void* second = blocks.allocate(3 * kUnitBytes);
    blocks.movable = {blocks.allocate(3 * kUnitBytes)};
    blocks.free(first);
    blocks.free(second);
    blocks.free(blocks.allocate(6 * kUnitBytes));
    blocks.free(blocks.movable.front());
    blocks.movable.clear();
    for (int k = 0; k < i / 2; ++k) blocks.free(blocks.allocate(kUnitBytes));
    blocks.begin_step();
  }
  EXPECT_GT(blocks.moved, kSteps / 2);
  EXPECT_GT(blocks.arena.layout_searches(), 2);
  EXPECT_LE(blocks.arena.layout_searches(), 8);
  blocks.free(middle);
}

}  // namespace
}  // namespace lowtide::engine
