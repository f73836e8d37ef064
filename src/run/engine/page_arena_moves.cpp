// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// The part of the arena that has blocks moved, so that a row or whole pages become free.
#include <algorithm>
#include <utility>

#include "run/engine/page_arena.h"
#include "run/engine/page_emptier.h"
#include "run/engine/row_maker.h"

namespace lowtide::engine {

std::vector<BlockMove> PageArena::choose_moves(std::int64_t bytes,
                                               const std::function<bool(void*)>& may_move) {
  const std::int64_t units = rounded(bytes) / unit_bytes_;
  const std::lock_guard lock(mutex_);
  if (free_.free_units() < units) return {};
  std::vector<RowBlock> blocks;
  for (const auto& [data, held] : blocks_) blocks.push_back({data, held.runs.get()});
  Runs free;
  for (const auto& [first, count] : free_.by_place()) free.push_back({first, count});
  std::vector<BlockMove> moves;
  std::vector<RowMove> chosen = make_row(units, free, blocks, may_move);
  if (chosen.empty() && units >= units_per_page_) {
    const std::int64_t needed = (units + units_per_page_ - 1) / units_per_page_;
    chosen = empty_pages(needed - free_.free_pages(), units_per_page_, free, blocks, may_move);
  }
  for (const RowMove& move : chosen) moves.push_back(begin_move(move.data, move.to));
  return moves;
}

BlockMove PageArena::begin_move(void* data, const Run& to) {
  free_.take(to);
  void* place = reinterpret_cast<void*>(address_of(to.first));
  destinations_.emplace(place, std::make_shared<const Runs>(Runs{to}));
  return {data, place};
}

// Blocks that lie in each other's places come home in several rounds: if none can, then others get
// out of the way of one of them, which comes home next and stays there.
std::vector<BlockMove> PageArena::choose_homecomings(const std::function<bool(void*)>& may_move) {
  const std::lock_guard lock(mutex_);
  std::vector<BlockMove> moves;
  Runs homes;
  for (auto& [data, held] : blocks_) {
    const Runs* place = home_of(held);
    // What lies in pieces has an address of its own, and is rare.
    if (place == nullptr || place->size() != 1 || *place == *held.runs) continue;
    held.is_fixed = !may_move(data);
    if (held.is_fixed) continue;
    const Run& home = place->front();
    if (free_.contains(home)) {
      moves.push_back(begin_move(data, home));
    } else {
      homes.push_back(home);
    }
  }
  for (std::size_t i = 0; i < homes.size() && moves.empty(); ++i) {
    moves = clear_home(homes[i], homes, may_move);
  }
  return moves;
}

std::vector<BlockMove> PageArena::clear_home(const Run& home, const Runs& homes,
                                             const std::function<bool(void*)>& may_move) {
  std::vector<void*> there;
  for (const auto& [data, held] : blocks_) {
    if (!overlap(*held.runs, {home})) continue;
    if (!may_move(data)) return {};
    there.push_back(data);
  }
  std::vector<Run> aside;
  for (const Runs& spared : {homes, Runs{home}}) {
    Runs taken = taken_runs();
    taken.insert(taken.end(), spared.begin(), spared.end());
    Runs rows = gaps_between(std::move(taken), free_.units());
    aside.clear();
    for (void* data : there) {
      const std::int64_t units = units_of(*blocks_.at(data).runs);
      const auto row = std::find_if(rows.begin(), rows.end(),
                                    [&](const Run& one) { return one.count >= units; });
      if (row == rows.end()) break;
      aside.push_back({row->first, units});
      *row = {row->first + units, row->count - units};
    }
    if (aside.size() == there.size()) break;
  }
  std::vector<BlockMove> moves;
  if (aside.size() < there.size()) return moves;
  for (std::size_t i = 0; i < there.size(); ++i) moves.push_back(begin_move(there[i], aside[i]));
  return moves;
}

void PageArena::settle(const BlockMove& move, bool is_done) {
  const std::lock_guard lock(mutex_);
  const auto destination = destinations_.find(move.to);
  RunsP left = std::move(destination->second);
  destinations_.erase(destination);
  if (is_done) {
    ++moves_;
    Held held = std::move(blocks_.extract(move.from).mapped());
    std::swap(held.runs, left);
    if (held.birth.step == recurring_.step() && held.birth.number < put_.size()) {
      put_[held.birth.number] = held.runs;
    }
    blocks_.emplace(move.to, std::move(held));
  }
  for (const Run& run : *left) free_.add(run);
}

}  // namespace lowtide::engine
