// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// The part of the books that knows what only records keep alive: sources that the program has let
// go of, and that replays would read.
#include <algorithm>

#include "run/torch/books.h"
#include "run/torch/dependents.h"

namespace lowtide::run {

// Nobody but records has the storage of the cell, which holds a source.
bool Books::is_held_by_records(const Cell& cell, const Lock&) const {
  std::size_t holds = 0;
  for (const std::weak_ptr<Record>& weak : cell.value->readers) {
    const RecordP reader = weak.lock();
    if (!reader) continue;
    for (const Ref& ref : reader->refs) {
      if (ref.value == cell.value && ref.hold) ++holds;
    }
  }
  return holds > 0 && cell.weak.use_count() <= holds;
}

std::int64_t Books::record_held_bytes(const Lock& lock) const {
  std::int64_t bytes = 0;
  for (const auto& [impl, cell] : cells_) {
    if (is_held_by_records(*cell, lock)) bytes += cell->value->bytes;
  }
  return bytes;
}

// Whatever is computed from it must be there: from then on nobody computes it again.
bool Books::give_up_held(const Cell& cell, Lock& lock) {
  Dependents found({cell.value});
  found.look_from(cell.value);
  const bool are_there =
      std::all_of(found.alive.begin(), found.alive.end(),
                  [](const ValueP& value) { return value->residency != Residency::kDropped; });
  if (are_there) {
    for (const ValueP& value : found.alive) make_source(*value, lock);
    for (const ValueP& value : found.lost) make_source(*value, lock);
  }
  found.clear();
  return are_there;
}

bool Books::give_up_records(Lock& lock) {
  // What is being brought back may need them.
  if (restorations_ > 0) return false;
  std::vector<const Cell*> held;
  for (const auto& [impl, cell] : cells_) {
    if (cell->value->pins == 0 && is_held_by_records(*cell, lock)) held.push_back(cell.get());
  }
  bool is_any_given_up = false;
  for (const Cell* cell : held) is_any_given_up = give_up_held(*cell, lock) || is_any_given_up;
  if (!is_any_given_up) return false;
  // Their storages die with the records, which happens under no lock but this one.
  destroy_doomed();
  return true;
}

}  // namespace lowtide::run
