// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "run/engine/evictor.h"
#include "run/engine/free_runs.h"
#include "run/engine/page_layout.h"
#include "run/engine/page_mapper.h"
#include "run/engine/recurring_blocks.h"

namespace lowtide::engine {

// Large blocks of a device's memory. It comes in pages, which lie in one row (at home); a block is
// a range of that row. When no range is long enough, whole pages from here and there are given a
// second address where they lie one after another (a stitch), the last of them perhaps with free
// space behind the block. That needs no wait for the device, since no page loses an address that
// work under way may be using. Stitches are kept: a training step asks for the same blocks again
// and again, and gets them where it had them before if that is free. Where steps repeat themselves
// and stitches are made or blocks are moved all the same, the blocks of a step are laid out anew,
// all at once.
//
// Blocks are used and freed in the order of one stream; whoever frees sees to that. All functions
// may be called from any thread.
class PageArena {
 public:
  // Returns when nothing that was issued to the device is still under way.
  using WaitForDevice = std::function<void()>;

  // Sizes and places of blocks are multiples of `unit_bytes`, of which a page has a whole number.
  // `most_pages` is how many there can ever be. The mapper must outlive the arena.
  PageArena(PageMapper& mapper, std::int64_t unit_bytes, std::int64_t most_pages,
            WaitForDevice wait);
  // Requires: no block is out.
  ~PageArena();
  PageArena(const PageArena&) = delete;
  PageArena& operator=(const PageArena&) = delete;

  // A block of that many bytes, rounded up; null when there is no room for it with `new_pages`
  // more, or none without a stitch that is not there yet and if those may not be made.
  void* allocate(std::int64_t bytes, std::int64_t new_pages, bool may_stitch = true);
  // For a block that was refused: which others have to go where; see MovableBlocks.
  std::vector<BlockMove> choose_moves(std::int64_t bytes,
                                      const std::function<bool(void*)>& may_move);
  // Which blocks are not where they were laid out, and can go there now.
  std::vector<BlockMove> choose_homecomings(const std::function<bool(void*)>& may_move);
  void settle(const BlockMove& move, bool is_done);
  // Returns how many bytes it had; 0: it is none of ours.
  std::int64_t free(void* block);
  bool owns(void* block) const;
  // Whether the blocks of a step have places of their own, so that there soon will be no more need
  // for stitches.
  bool is_laid_out() const;
  // What is asked for from here on is likely what was asked for since the last call, in that order.
  void begin_step();
  // Gives up to so many free pages back, for which it waits for the device. Returns how many.
  std::int64_t shrink(std::int64_t pages);

  std::int64_t rounded(std::int64_t bytes) const {
    return (bytes + unit_bytes_ - 1) / unit_bytes_ * unit_bytes_;
  }
  // About how much must be freed before a block that was refused may find room.
  std::int64_t missing_bytes(std::int64_t bytes) const;
  std::int64_t page_bytes() const { return page_bytes_; }
  std::int64_t pages() const;
  // Pages of which nothing is used.
  std::int64_t free_pages() const;
  std::int64_t free_bytes() const;
  // How many were ever made.
  std::int64_t stitches() const;
  // How often a layout was looked for.
  std::int64_t layout_searches() const;

 private:
  using Address = PageMapper::Address;
  // Units in a row at home.
  using Run = UnitRun;
  using Runs = std::vector<Run>;
  // How many blocks of one size are remembered of a step.
  static constexpr std::size_t kMostPlaces = 4096;
  // A block's never change, and it has the same ones in every step.
  using RunsP = std::shared_ptr<const Runs>;
  // Other addresses of pages, and what of these the block took.
  struct Stitch {
    Address address;
    std::int64_t pages;
    RunsP runs;
    std::uint64_t last_use = 0;
  };
  struct Block {
    Address address = 0;
    RunsP runs;
    Stitch* stitch = nullptr;
  };
  // A block that is out.
  struct Held {
    RunsP runs;
    RecurringBlocks::Birth birth;
    // In the layout, of a block that does not come again but stays.
    std::optional<std::size_t> number_of_staying = std::nullopt;
    // Whoever uses it has its address.
    bool is_fixed = false;
  };
  // Where a block of a step should lie, and where it lay in the step before; either may be nowhere.
  struct Place {
    Block laid_out;
    Block last;
    // Another place was looked for in vain.
    bool is_stuck = false;
  };
  // Of the blocks of one size that a step asked for, in that order, and how many of them were asked
  // for again.
  struct Places {
    std::vector<Place> blocks;
    std::size_t next = 0;
  };

  // All of these need the lock.
  Block block_at(std::int64_t first, std::int64_t units) const;
  Block known_place(std::int64_t units);
  // False: it is still not free.
  bool move_elsewhere(Place& place, std::int64_t units);
  void note_place(std::int64_t units, const Block& block);
  Block find_block(std::int64_t units, std::int64_t new_pages, bool may_stitch);
  Block find_run(std::int64_t units) const;
  Block find_any_run(std::int64_t units) const;
  Block find_stitch(std::int64_t units, bool may_make);
  template <class Predicate>
  Block known_stitch(std::int64_t units, const Predicate& is_wanted) const;
  Block make_stitch(std::int64_t units, Runs runs);
  Block map_stitch(std::int64_t units, Runs runs);
  bool wants_layout() const;
  void lay_out_blocks();
  LayoutSpace space_to_lay_out() const;
  void forget_staying();
  void add_staying(std::vector<RecurringBlock>& blocks, std::vector<Runs>& now);
  void close_holes();
  // Where it was laid out; null: nowhere.
  const Runs* home_of(const Held& held) const;
  Block laid_out_block(std::int64_t units, const Runs& runs);
  BlockMove begin_move(void* data, const Run& to);
  // To make room at `home`, if possible beside the homes of others. Empty: nothing lies there, or
  // it cannot leave.
  std::vector<BlockMove> clear_home(const Run& home, const Runs& homes,
                                    const std::function<bool(void*)>& may_move);
  void drop_layout();
  bool grow(std::int64_t pages);
  std::int64_t fill_holes(std::int64_t pages);
  std::int64_t give_back(std::int64_t pages);
  std::int64_t make_pages(std::int64_t first, std::int64_t count);
  std::int64_t free_at_end(std::int64_t units) const;
  bool is_free(const Runs& runs) const;
  Runs taken_runs() const;
  Runs choose_pages(std::int64_t units) const;
  void add_page(Runs& runs, std::int64_t unit) const;
  Runs whole_pages(std::int64_t pages, std::int64_t except) const;
  std::int64_t page_with_free_start(std::int64_t units) const;
  void forget_old_stitches();
  template <class Predicate>
  void forget_stitches(const Predicate& is_unwanted);
  void release(const Run& run);
  Address address_of(std::int64_t unit) const;

  PageMapper& mapper_;
  const std::int64_t unit_bytes_;
  const std::int64_t page_bytes_;
  const std::int64_t units_per_page_;
  const std::int64_t most_pages_;
  const WaitForDevice wait_;

  mutable std::mutex mutex_;
  // The members below are guarded by mutex_.
  Address home_ = 0;
  std::vector<PageMapper::Page> home_pages_;
  // By page.
  std::vector<bool> is_present_;
  FreeRuns free_;
  std::int64_t present_pages_ = 0;
  // By the units of the block.
  std::map<std::int64_t, std::vector<std::unique_ptr<Stitch>>> stitches_;
  std::int64_t stitch_count_ = 0;
  std::int64_t stitched_pages_ = 0;
  // By the units of the blocks.
  std::unordered_map<std::int64_t, Places> places_;
  std::uint64_t clock_ = 0;
  // Blocks come and go by the thousand in every step: the memory of what is noted here is kept.
  std::pmr::unsynchronized_pool_resource pool_;
  std::pmr::unordered_map<void*, Held> blocks_{&pool_};
  // Where blocks are to go that are being moved.
  std::unordered_map<void*, RunsP> destinations_;
  RecurringBlocks recurring_;
  // Where the blocks of the step under way were put, in the order in which they came.
  std::vector<RunsP> put_;
  // How often a block was moved out of the way of another, and stitches and moves of before.
  std::int64_t moves_ = 0;
  std::int64_t makeshifts_before_step_ = 0;
  // Of steps with that digest, made so many steps ago; none: they lie as it comes.
  std::optional<PageLayout> layout_;
  std::uint64_t layout_digest_ = 0;
  int steps_since_layout_ = 0;
  // How often steps with that digest were laid out.
  int layouts_ = 0;
  // How often a layout was looked for at all, and how often in vain since one was found.
  std::int64_t searches_ = 0;
  int vain_layouts_ = 0;
};

}  // namespace lowtide::engine
