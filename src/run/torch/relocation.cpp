// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// The part of the books that moves values about on the device, so that what is free there comes to
// lie in one piece.
#include <utility>

#include "lowtide/errors.h"
#include "run/torch/books.h"
#include "run/torch/storage_access.h"

namespace lowtide::run {

// Whoever copies it has its address; and what another stream does with it, ours knows nothing of.
Cell* Books::owner_of(void* data) const {
  const auto block = device_.ledger().find_block(data);
  if (!block || block->is_copied || block->stream != device_.current_stream()) return nullptr;
  auto* cell = static_cast<Cell*>(block->owner);
  // Torch may have given the storage other bytes.
  const bool is_there = cell != nullptr && !cell->weak.expired() && cell->data == data &&
                        bytes_of(*cell->impl) == data;
  return is_there ? cell : nullptr;
}

// Nobody has its address: the same that may be evicted, and what only the rules keep.
bool Books::may_relocate(const Value& value) const {
  if (!value.is_resident() || value.pins > 0 || is_used_quietly(value)) return false;
  if (is_used_opaquely(value)) return false;
  const Cell* cell = value.place;
  return cell != nullptr && cell->holds == 0 && owns_block(value);
}

bool Books::relocate(const engine::BlockMove& move, const c10::Storage& storage, Lock&) {
  Cell* cell = owner_of(move.from);
  if (cell == nullptr || cell->impl != storage.unsafeGetStorageImpl()) return false;
  Value& value = *cell->value;
  if (!may_relocate(value)) return false;
  try {
    device_.copy_within(move.to, move.from, value.bytes);
    // Copies to the host come after this one.
    advance();
  } catch (const DeviceError&) {
    // It stays where it is.
    return false;
  }
  device_.ledger().rename_block(move.from, move.to);
  redirect_bytes(*cell->impl, move.to);
  own_block(*cell);
  value.last_use = op_number;
  ++counters.relocations;
  return true;
}

bool Books::move_together(engine::MovableBlocks& blocks) {
  Lock lock(*this);
  bury_dead(lock);
  // The ops may have been let pass since.
  if (device_.ledger().overflow() != nullptr) return false;
  const auto may_move = [this](void* data) {
    const Cell* cell = owner_of(data);
    return cell != nullptr && may_relocate(*cell->value);
  };
  std::vector<engine::BlockMove> moves = blocks.choose(may_move);
  if (moves.empty() && see_unseen(lock)) moves = blocks.choose(may_move);
  bool is_any_moved = false;
  for (const engine::BlockMove& move : moves) {
    const Cell* cell = owner_of(move.from);
    // Nobody may free the block before it is known where it is.
    c10::Storage storage = cell == nullptr ? c10::Storage() : storage_of(*cell->value);
    const bool is_moved = storage && relocate(move, storage, lock);
    blocks.settle(move, is_moved);
    if (storage) discard(std::move(storage));
    is_any_moved = is_any_moved || is_moved;
  }
  return is_any_moved;
}

}  // namespace lowtide::run
