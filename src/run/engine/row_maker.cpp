// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/row_maker.h"

#include <algorithm>
#include <set>
#include <unordered_map>
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

class RowMaker {
 public:
  RowMaker(std::int64_t units, const std::vector<UnitRun>& free,
           const std::vector<RowBlock>& blocks, const std::function<bool(void*)>& may_move)
      : units_(units), free_(free), blocks_(blocks), may_move_(may_move) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      for (const UnitRun& run : *blocks[i].runs) pieces_.push_back({run, i});
    }
    std::sort(pieces_.begin(), pieces_.end(),
              [](const Piece& a, const Piece& b) { return a.run.first < b.run.first; });
  }

  std::vector<RowMove> make() {
    std::vector<Window> windows;
    for (const UnitRun& run : free_) {
      add_window(windows, run.first);
      add_window(windows, run.first + run.count - units_);
    }
    const std::size_t count = std::min(kWindowsTried, windows.size());
    std::partial_sort(windows.begin(), windows.begin() + static_cast<std::ptrdiff_t>(count),
                      windows.end(),
                      [](const Window& a, const Window& b) { return a.moved < b.moved; });
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<RowMove> moves = empty(windows[i]);
      if (!moves.empty()) return moves;
    }
    return {};
  }

 private:
  std::vector<Piece>::const_iterator first_piece_after(std::int64_t unit) const {
    return std::partition_point(pieces_.begin(), pieces_.end(), [unit](const Piece& piece) {
      return piece.run.first + piece.run.count <= unit;
    });
  }

  bool may_move(std::size_t block) {
    const auto [known, is_new] = may_move_known_.try_emplace(block, false);
    if (is_new) known->second = may_move_(blocks_[block].data);
    return known->second;
  }

  // The blocks in it; nothing if one of them has to stay, or if they are too much.
  std::optional<std::set<std::size_t>> blocks_in(const Window& window) {
    std::set<std::size_t> inside;
    std::int64_t moved = 0;
    const std::int64_t end = window.first + units_;
    for (auto piece = first_piece_after(window.first);
         piece != pieces_.end() && piece->run.first < end; ++piece) {
      if (!inside.insert(piece->block).second) continue;
      moved += units_of(*blocks_[piece->block].runs);
      const bool is_too_much = moved > kMostMovedShare * units_ || inside.size() > kMostMoves;
      if (is_too_much || !may_move(piece->block)) return std::nullopt;
    }
    return inside;
  }

  // Whether every unit of it is there.
  bool is_whole(std::int64_t first) const {
    const std::int64_t end = first + units_;
    std::int64_t present = 0;
    const auto count = [&](const UnitRun& run) {
      const std::int64_t from = std::max(first, run.first);
      present += std::max<std::int64_t>(0, std::min(end, run.first + run.count) - from);
    };
    for (auto piece = first_piece_after(first); piece != pieces_.end() && piece->run.first < end;
         ++piece) {
      count(piece->run);
    }
    for (const UnitRun& run : free_) count(run);
    return present == units_;
  }

  void add_window(std::vector<Window>& windows, std::int64_t first) {
    if (first < 0 || !is_whole(first)) return;
    Window window = {.first = first};
    const auto inside = blocks_in(window);
    if (!inside) return;
    for (const std::size_t block : *inside) window.moved += units_of(*blocks_[block].runs);
    windows.push_back(window);
  }

  // What is free outside of the window, by length and place.
  std::set<std::pair<std::int64_t, std::int64_t>> room_outside(const Window& window) const {
    std::set<std::pair<std::int64_t, std::int64_t>> room;
    const auto add = [&](std::int64_t first, std::int64_t end) {
      if (first < end) room.emplace(end - first, first);
    };
    for (const UnitRun& run : free_) {
      const std::int64_t end = run.first + run.count;
      add(run.first, std::min(end, window.first));
      add(std::max(run.first, window.first + units_), end);
    }
    return room;
  }

  // Empty: something that is in it finds no other place.
  std::vector<RowMove> empty(const Window& window) {
    const auto inside = blocks_in(window);
    std::vector<std::size_t> order(inside->begin(), inside->end());
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
  std::unordered_map<std::size_t, bool> may_move_known_;
};

}  // namespace

std::vector<RowMove> make_row(std::int64_t units, const std::vector<UnitRun>& free,
                              const std::vector<RowBlock>& blocks,
                              const std::function<bool(void*)>& may_move) {
  return RowMaker(units, free, blocks, may_move).make();
}

}  // namespace lowtide::engine
