// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace lowtide::policy {

// One direction of a link as a row of busy times, in which planned copies get slots.
class CopyLane {
 public:
  struct Slot {
    double start = 0;
    double end = 0;
  };

  // The earliest free slot of that length that starts at `from` or later.
  Slot earliest(double from, double length) const;
  // The latest free slot of that length that ends by `by`; it starts no earlier than 0 if it can.
  Slot latest(double by, double length) const;
  // The same, looking past so many busy stretches at most; nothing if it is not found by then.
  std::optional<Slot> latest_nearby(double by, double length, std::size_t stretches) const;

  // Requires: the slot is free.
  void take(Slot slot);

 private:
  // Busy stretches that follow one another, and the widest gap between any two of them: a search
  // for a wider one passes over all of them at once. A lane without that would be searched from end
  // to end once it is full of copies with small gaps between them.
  struct Block {
    std::vector<Slot> stretches;
    double widest_gap = 0;
  };
  // Of a stretch; past the last block: the end of the lane.
  struct Place {
    std::size_t block = 0;
    std::size_t index = 0;
  };

  const Slot& at(Place place) const { return blocks_[place.block].stretches[place.index]; }
  bool is_end(Place place) const { return place.block == blocks_.size(); }
  static bool is_first(Place place) { return place.block == 0 && place.index == 0; }
  Place after(Place place) const;
  Place before(Place place) const;
  // The first stretch that starts at that time or later.
  Place first_from(double time) const;
  bool is_too_full(std::size_t block, double length) const;
  Place erase(Place place);
  void insert(Place place, Slot stretch);
  void split(std::size_t block);
  static void measure(Block& block);

  // In order, none empty; stretches that touch are one.
  std::vector<Block> blocks_;
};

}  // namespace lowtide::policy
