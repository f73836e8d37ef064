// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// The part of the arena that has blocks moved, so that a row or whole pages become free.
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

// Blocks that lie in each other's places come home in several rounds, the first of which takes one
// of them out of the way.
std::vector<BlockMove> PageArena::choose_homecomings(const std::function<bool(void*)>& may_move) {
  const std::lock_guard lock(mutex_);
  std::vector<BlockMove> moves;
  std::vector<void*> waiting;
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
      waiting.push_back(data);
      homes.push_back(home);
    }
  }
  for (std::size_t i = 0; i < waiting.size() && moves.empty(); ++i) {
    if (!overlap(*blocks_.at(waiting[i]).runs, homes)) continue;
    const Run aside = find_row_beside(homes[i].count, homes);
    if (aside.count > 0) moves.push_back(begin_move(waiting[i], aside));
  }
  return moves;
}

// At the beginning or the end of a free run. Empty: there is none.
PageArena::Run PageArena::find_row_beside(std::int64_t units, const Runs& others) const {
  const FreeRuns::ByLength& runs = free_.by_length();
  for (auto run = runs.lower_bound({units, 0}); run != runs.end(); ++run) {
    for (const std::int64_t first : {run->second, run->second + run->first - units}) {
      if (!overlap({{first, units}}, others)) return {first, units};
    }
  }
  return {0, 0};
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
