// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "run/engine/block_lives.h"

namespace lowtide::engine {

// Units of memory in a row.
struct UnitRun {
  std::int64_t first;
  std::int64_t count;
  bool operator==(const UnitRun&) const = default;
};

std::int64_t units_of(const std::vector<UnitRun>& runs);
// Whether they have a unit in common.
bool overlap(const std::vector<UnitRun>& a, const std::vector<UnitRun>& b);

// What is left of so many units, in order.
std::vector<UnitRun> gaps_between(std::vector<UnitRun> taken, std::int64_t units);

// The memory that blocks are laid out in.
struct LayoutSpace {
  std::int64_t units;
  std::int64_t units_per_page;
  // What is taken all the time.
  std::vector<UnitRun> taken;
};

// Where the blocks of a step that is repeated can lie so that no two are at the same place at the
// same time.
class PageLayout {
 public:
  using Runs = std::vector<UnitRun>;

  // They stay where they lie now, of which each has one or several runs, unless that is in the way
  // of another. Then it is one run where there is a place for it, else runs that begin and end
  // with pages, except for the end of the last; none if there is no room, or if its life is not
  // known.
  PageLayout(std::vector<RecurringBlock> blocks, const std::vector<Runs>& now, LayoutSpace space);
  // Takes longer, and finds places for all where the former does not: those that lie nowhere now
  // may send away all others. Some luck is needed where there is little room; another seed brings
  // other luck.
  PageLayout(std::vector<RecurringBlock> blocks, const std::vector<Runs>& now, LayoutSpace space,
             std::uint64_t seed);

  const std::vector<RecurringBlock>& blocks() const { return blocks_; }
  // By block.
  const std::vector<Runs>& places() const { return places_; }
  // Whether all have a place whose lives are known.
  bool is_complete() const;
  // How many blocks were looked at while rows were found, which is bounded.
  std::int64_t looks() const { return looks_; }
  // Finds another place for the block, one run that is in nobody's way and has nothing of `taken`.
  // False: there is none.
  bool move_elsewhere(std::size_t block, const Runs& taken);

 private:
  // Where something begins or ends.
  struct Mark {
    std::int64_t unit;
    std::size_t block;
    auto operator<=>(const Mark&) const = default;
  };
  // A row of units, and who lies there.
  struct Row {
    std::int64_t first = -1;
    std::vector<std::size_t> others;
  };
  // How blocks find rows.
  struct Search {
    std::uint64_t seed;
    std::int64_t most_looks;
  };

  std::vector<std::size_t> largest_first() const;
  // All are taken away before that. The largest first; returns those that have no place yet.
  std::vector<std::size_t> put_where_they_lie(const std::vector<Runs>& now,
                                              const std::vector<bool>& clashes);
  std::vector<bool> find_clashes(const std::vector<Runs>& places) const;
  std::int64_t looks_of_a_try() const;
  void put(std::size_t block, Runs runs);
  void take_away(std::size_t block);
  void sort_marks();
  // Leaves those for which there is none.
  void place_in_rows(std::vector<std::size_t>& waiting, const Search& search);
  void place_in_pieces(const std::vector<std::size_t>& waiting);
  Row cheapest_row(std::size_t block) const;
  bool is_free(std::size_t block, const Runs& runs) const;
  Runs find_row(std::size_t block, const Runs& gaps) const;
  Runs find_pieces(std::size_t block, const Runs& gaps) const;
  Runs gaps_for(std::size_t block, Runs taken) const;

  const std::vector<RecurringBlock> blocks_;
  const BlockLives lives_;
  const LayoutSpace space_;
  // What is never taken, in order.
  const Runs gaps_;
  std::vector<Runs> places_;
  std::int64_t looks_ = 0;
  // In order.
  std::vector<Mark> begins_;
  std::vector<Mark> ends_;
  // By block: what it takes to send it away.
  std::vector<std::int64_t> prices_;
};

}  // namespace lowtide::engine
