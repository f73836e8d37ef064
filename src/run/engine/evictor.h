// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lowtide::engine {

struct Block;

// A block whose contents are to go to another place.
struct BlockMove {
  void* from;
  void* to;
};

// Blocks that can be moved about, so that what is free comes to lie in one piece.
class MovableBlocks {
 public:
  virtual ~MovableBlocks() = default;
  // Which of those that may be moved have to go where; empty: nothing would come of it. The places
  // are theirs from then on, until settle() says of each whether it went there.
  virtual std::vector<BlockMove> choose(const std::function<bool(void* block)>& may_move) = 0;
  virtual void settle(const BlockMove& move, bool is_done) = 0;
};

// Who makes room on a device. A Ledger calls it inside an allocation, on whatever thread allocates
// and while an op is half-way through: so it may drop and copy out, and never computes anything.
class Evictor {
 public:
  virtual ~Evictor() = default;

  // Frees at least `bytes` if it can, for a request of `request_bytes` in one piece: a block of
  // that size serves it best. Returns what was freed; 0 means that nothing is left to evict.
  virtual std::int64_t evict(std::int64_t bytes, std::int64_t request_bytes) = 0;

  // Moves blocks as they ask for it, with whoever uses them. False: none was.
  virtual bool move_together(MovableBlocks& blocks) = 0;

  // The block at `data`, which has an owner or is copied, is given back; its memory is free as soon
  // as this returns. Must not take a lock that is held while blocks are freed, nor call the ledger.
  virtual void on_block_freed(void* data, const Block& block) noexcept = 0;

  // Called when an allocation is refused for good: what to tell the user beside the sizes.
  virtual std::string describe_shortage(std::int64_t asked_bytes) = 0;
};

}  // namespace lowtide::engine
