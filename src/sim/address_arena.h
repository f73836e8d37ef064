// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "lowtide/ids.h"

namespace lowtide::sim {

// One row of addresses from 0 to a limit, and which value lies where: what an online policy that
// looks at addresses is told about, and nothing that verify() or the simulator counts. A value that
// finds no row has no address; every call takes it as it is.
class AddressArena {
 public:
  // From which end a place is looked for.
  enum class End : std::uint8_t { kLow, kHigh };

  AddressArena(std::size_t value_count, std::int64_t limit_bytes);

  // Gives the value the smallest free row that is long enough, at the lowest address among equals.
  // False: none is.
  bool place_best(ValueId value, std::int64_t bytes);
  // The first free row from that end.
  bool place_from(End end, ValueId value, std::int64_t bytes);
  // Bytes that no value owns, until end_scratch(). False: there is no row for them.
  bool place_scratch(std::int64_t bytes);
  void end_scratch();
  void release(ValueId value);
  // `to` lies where `from` lay.
  void hand_over(ValueId from, ValueId to);

  bool has_address(ValueId value) const { return offset_of_[value.slot()] >= 0; }
  std::int64_t offset(ValueId value) const { return offset_of_[value.slot()]; }
  // Free bytes right below and right above the value.
  std::int64_t free_beside(ValueId value) const;
  std::size_t pieces() const { return pieces_.size(); }

  // What it costs to give up the value; nothing if it has to stay.
  using Price = std::function<std::optional<double>(ValueId)>;
  // The values in the cheapest row of at least `bytes`, free pieces at no cost; nothing if there is
  // no row without a value that has to stay. Two ends of a window go once over the pieces, or over
  // `max_pieces` of them, beginning where the last such search ended.
  std::optional<std::vector<ValueId>> cheapest_row(std::int64_t bytes, std::size_t max_pieces,
                                                   const Price& price);

 private:
  struct Piece {
    std::int64_t bytes = 0;
    // Not valid for a free piece and for scratch.
    ValueId value;
    bool is_free = false;
  };
  using Pieces = std::map<std::int64_t, Piece>;
  struct Window;

  // Takes `bytes` at the low or the high end of a free piece, and gives the rest back.
  std::int64_t take(Pieces::iterator piece, std::int64_t bytes, End end, ValueId value);
  void set_free(Pieces::iterator piece);
  void add_free(std::int64_t offset, std::int64_t bytes);
  void remove_free(Pieces::iterator piece);

  // By offset; they cover all addresses.
  Pieces pieces_;
  // The free ones, by size and by address.
  std::set<std::pair<std::int64_t, std::int64_t>> free_by_size_;
  std::map<std::int64_t, std::int64_t> free_by_offset_;
  // By value; -1 for none.
  std::vector<std::int64_t> offset_of_;
  std::vector<std::int64_t> scratch_;
  // Where the next bounded search begins.
  std::int64_t search_from_ = 0;
};

}  // namespace lowtide::sim
