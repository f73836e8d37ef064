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
  for (const RowMove& move : chosen) {
    free_.take(move.to);
    void* to = reinterpret_cast<void*>(address_of(move.to.first));
    destinations_.emplace(to, std::make_shared<const Runs>(Runs{move.to}));
    moves.push_back({move.data, to});
  }
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
