// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

namespace lowtide::engine {

// Units of memory in a row.
struct UnitRun {
  std::int64_t first;
  std::int64_t count;
  bool operator==(const UnitRun&) const = default;
};

// Whether they have a unit in common.
bool overlap(const std::vector<UnitRun>& a, const std::vector<UnitRun>& b);

// A block that every step asks for again.
struct RecurringBlock {
  std::int64_t units;
  // The events of the step between which it lives. It lives on into the next step, until `end`
  // there, if that is not after `begin`. -1: nobody knows.
  int begin;
  int end;
  bool is_known() const { return end >= 0; }
};

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
  // known. Blocks of whole pages begin with a page.
  PageLayout(std::vector<RecurringBlock> blocks, const std::vector<Runs>& now, LayoutSpace space);

  const std::vector<RecurringBlock>& blocks() const { return blocks_; }
  // By block.
  const std::vector<Runs>& places() const { return places_; }
  // Whether all have a place whose lives are known.
  bool is_complete() const;
  // Finds another place for the block, one run that is in nobody's way and has nothing of `taken`.
  // False: there is none.
  bool move_elsewhere(std::size_t block, const Runs& taken);

 private:
  // A row of units, and who lies there.
  struct Row {
    std::int64_t first = 0;
    std::vector<std::size_t> others;
  };

  std::vector<std::size_t> largest_first() const;
  // Leaves those for which there is none.
  void place_in_rows(std::vector<std::size_t>& waiting);
  Row cheapest_row(std::size_t block, const std::vector<std::int64_t>& times_sent_away) const;
  void note_meetings();
  bool is_free(std::size_t block, const Runs& runs) const;
  Runs find_row(std::size_t block, const Runs& gaps) const;
  Runs find_pieces(std::size_t block, const Runs& gaps) const;
  Runs gaps_for(std::size_t block, Runs taken) const;

  const std::vector<RecurringBlock> blocks_;
  const LayoutSpace space_;
  std::vector<Runs> places_;
  // By block: those that live at the same time.
  std::vector<std::vector<std::size_t>> meetings_;
};

}  // namespace lowtide::engine
