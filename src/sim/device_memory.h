// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "lowtide/ids.h"
#include "lowtide/machine.h"
#include "lowtide/trace.h"
#include "sim/allocator_model.h"
#include "sim/links.h"

namespace lowtide::sim {

// Bytes on the device that belong together and go together.
struct Piece {
  std::int64_t bytes = 0;
  StorageKind kind = StorageKind::kTemporary;
  AllocatorModel::Handle block = AllocatorModel::kNothing;
};

// What is on the device, by kind, with the copies on their way out and the allocator model beside.
//
// Copies leave through one lane, so they end in the order in which they began. Bytes that are
// needed before a move has ended can therefore be had by waiting for the first few of the pending
// moves. The device waits itself; a fetch is promised the room, and its bytes are taken when that
// move ends. First come, first served: nobody gets room that would break an earlier promise.
class DeviceMemory {
 public:
  using KindBytes = std::array<std::int64_t, kStorageKinds>;
  // The fullest moment since begin_tick().
  struct Fullest {
    std::int64_t total_bytes = 0;
    std::int64_t leaving_bytes = 0;
    KindBytes bytes{};
  };
  struct Leaving {
    ValueId value;
    Links::CopyId copy = Links::kNone;
    Piece piece;
    // Fetches that were promised room when this copy has ended.
    std::vector<ValueId> promised;
  };

  DeviceMemory(const AllocatorRules& rules, std::int64_t budget_bytes);
  // Without a model of the allocator, which takes a third of a simulation and changes no time.
  explicit DeviceMemory(std::int64_t budget_bytes) : budget_bytes_(budget_bytes) {}

  Piece allocate(std::int64_t bytes, StorageKind kind);
  void free(Piece& piece);

  // How many of the pending moves must end before `bytes` more fit, then and with every promise
  // kept; all of them if that will not be enough. Takes O(log moves + promises).
  std::size_t moves_in_the_way(std::int64_t bytes) const;
  const Leaving& leaving(std::size_t index) const { return leaving_[index]; }

  // From here on the piece goes away with the copy.
  void start_leaving(ValueId value, Links::CopyId copy, const Piece& piece);
  // Promises room that comes free with the pending move of this index.
  void promise(std::size_t index, ValueId fetched, std::int64_t bytes);
  // The first of the pending moves has ended: the fetches that were promised its room, which are to
  // allocate now.
  std::vector<ValueId> end_leaving(Links::CopyId copy);

  void begin_tick();
  const Fullest& fullest() const { return fullest_; }
  // Requires: there is a model.
  const AllocatorModel& allocator() const { return *allocator_; }

 private:
  // Of a block of that size in the model; without one, all blocks are alike.
  AllocatorModel::Handle take_block(std::int64_t bytes);
  void note_moment();
  std::size_t moves_until(std::int64_t freed_bytes) const;

  std::int64_t budget_bytes_;
  std::optional<AllocatorModel> allocator_;
  KindBytes bytes_{};
  std::int64_t total_bytes_ = 0;
  // Part of total_bytes_.
  std::int64_t leaving_bytes_ = 0;
  // Bytes of all moves so far.
  std::int64_t moved_bytes_ = 0;
  std::deque<Leaving> leaving_;
  // By pending move: bytes of all moves of the step up to it. Apart, for searches jump about here.
  std::deque<std::int64_t> moved_through_;
  // How many moves have ended: the number of leaving_.front() among all moves.
  std::size_t ended_moves_ = 0;
  // Bytes that fetches will take at the end of a move, by the number of the move. Not in
  // total_bytes_.
  std::map<std::size_t, std::int64_t> promises_;
  std::int64_t promised_bytes_ = 0;
  Fullest fullest_;
};

}  // namespace lowtide::sim
