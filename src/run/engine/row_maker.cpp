// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/row_maker.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace lowtide::engine {
namespace {

// What is moved takes the device's time: no more than so many times what it makes room for.
constexpr std::int64_t kMostMovedShare = 4;
// How many of the cheapest windows are tried: in some of them what is moved finds no other place.
constexpr std::size_t kWindowsTried = 8;
constexpr std::size_t kMostMoves = 128;

// A stretch of the row with a block in it.
struct Piece {
  UnitRun run;
  std::size_t block;
};

struct Window {
  std::int64_t first = 0;
  // Units of the blocks that are in it, with what of these lies elsewhere.
  std::int64_t moved = 0;
};

std::int64_t end_of(const UnitRun& run) { return run.first + run.count; }

// All of them in order of place, those that lie side by side as one.
std::vector<UnitRun> joined(std::vector<UnitRun> runs) {
  std::sort(runs.begin(), runs.end(),
            [](const UnitRun& a, const UnitRun& b) { return a.first < b.first; });
  std::vector<UnitRun> whole;
  for (const UnitRun& run : runs) {
    if (!whole.empty() && end_of(whole.back()) == run.first) {
      whole.back().count += run.count;
    } else {
      whole.push_back(run);
    }
  }
  return whole;
}

class RowMaker {
 public:
  RowMaker(std::int64_t units, const std::vector<UnitRun>& free,
           const std::vector<RowBlock>& blocks, const std::function<bool(void*)>& may_move)
      : units_(units),
        free_(free),
        blocks_(blocks),
        may_move_(may_move),
        seen_in_(blocks.size(), -1),
        may_move_known_(blocks.size()) {
    std::vector<UnitRun> present = free;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      for (const UnitRun& run : *blocks[i].runs) {
        pieces_.push_back({run, i});
        present.push_back(run);
      }
    }
    std::sort(pieces_.begin(), pieces_.end(),
              [](const Piece& a, const Piece& b) { return a.run.first < b.run.first; });
    present_ = joined(std::move(present));
  }

  std::vector<RowMove> make() {
    for (const UnitRun& run : free_) {
      try_window(run.first);
      try_window(end_of(run) - units_);
    }
    for (const Window& window : cheapest_) {
      std::vector<RowMove> moves = empty(window);
      if (!moves.empty()) return moves;
    }
    return {};
  }

 private:
  std::vector<Piece>::const_iterator first_piece_after(std::int64_t unit) const {
    return std::partition_point(pieces_.begin(), pieces_.end(),
                                [unit](const Piece& piece) { return end_of(piece.run) <= unit; });
  }

  bool may_move(std::size_t block) {
    std::optional<bool>& known = may_move_known_[block];
    if (!known) known = may_move_(blocks_[block].data);
    return *known;
  }

  // Whether every unit of it is there.
  bool is_whole(std::int64_t first) const {
    const auto after = std::partition_point(present_.begin(), present_.end(),
                                            [&](const auto& run) { return end_of(run) <= first; });
    return after != present_.end() && after->first <= first && first + units_ <= end_of(*after);
  }

  // The blocks in it, and what is moved with them; nothing if one of them has to stay, or if that
  // is `too_much`.
  std::optional<std::int64_t> look_into(std::int64_t first, std::int64_t too_much) {
    inside_.clear();
    ++look_;
    std::int64_t moved = 0;
    for (auto piece = first_piece_after(first);
         piece != pieces_.end() && piece->run.first < first + units_; ++piece) {
      if (std::exchange(seen_in_[piece->block], look_) == look_) continue;
      moved += units_of(*blocks_[piece->block].runs);
      inside_.push_back(piece->block);
      if (moved >= too_much || inside_.size() > kMostMoves) return std::nullopt;
      if (!may_move(piece->block)) return std::nullopt;
    }
    return moved;
  }

  // Keeps it if it is one of the cheapest so far.
  void try_window(std::int64_t first) {
    if (first < 0 || !is_whole(first)) return;
    const bool are_enough = cheapest_.size() == kWindowsTried;
    const auto moved =
        look_into(first, are_enough ? cheapest_.back().moved : kMostMovedShare * units_ + 1);
    if (!moved) return;
    if (are_enough) cheapest_.pop_back();
    const auto after = std::upper_bound(
        cheapest_.begin(), cheapest_.end(), *moved,
        [](std::int64_t units, const Window& window) { return units < window.moved; });
    cheapest_.insert(after, {first, *moved});
  }

  // What is free outside of the window, by length and place.
  std::set<std::pair<std::int64_t, std::int64_t>> room_outside(const Window& window) const {
    std::set<std::pair<std::int64_t, std::int64_t>> room;
    const auto add = [&](std::int64_t first, std::int64_t end) {
      if (first < end) room.emplace(end - first, first);
    };
    for (const UnitRun& run : free_) {
      add(run.first, std::min(end_of(run), window.first));
      add(std::max(run.first, window.first + units_), end_of(run));
    }
    return room;
  }

  // Empty: something that is in it finds no other place.
  std::vector<RowMove> empty(const Window& window) {
    look_into(window.first, window.moved + 1);
    std::vector<std::size_t> order = inside_;
    std::sort(order.begin(), order.end());
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      return units_of(*blocks_[a].runs) > units_of(*blocks_[b].runs);
    });
    auto room = room_outside(window);
    std::vector<RowMove> moves;
    for (const std::size_t block : order) {
      const std::int64_t units = units_of(*blocks_[block].runs);
      const auto found = room.lower_bound({units, 0});
      if (found == room.end()) return {};
      const auto [length, first] = *found;
      room.erase(found);
      if (length > units) room.emplace(length - units, first + units);
      moves.push_back({blocks_[block].data, {first, units}});
    }
    return moves;
  }

  const std::int64_t units_;
  const std::vector<UnitRun>& free_;
  const std::vector<RowBlock>& blocks_;
  const std::function<bool(void*)>& may_move_;
  std::vector<Piece> pieces_;
  // What is there, in order.
  std::vector<UnitRun> present_;
  // Those that are to be tried, the cheapest first.
  std::vector<Window> cheapest_;
  // The blocks of the window that was looked into last; by block, in which look it was seen last.
  std::vector<std::size_t> inside_;
  int look_ = 0;
  std::vector<int> seen_in_;
  std::vector<std::optional<bool>> may_move_known_;
};

}  // namespace

std::vector<RowMove> make_row(std::int64_t units, const std::vector<UnitRun>& free,
                              const std::vector<RowBlock>& blocks,
                              const std::function<bool(void*)>& may_move) {
  return RowMaker(units, free, blocks, may_move).make();
}

}  // namespace lowtide::engine
