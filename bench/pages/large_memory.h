// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "run/engine/page_arena.h"
#include "step_blocks.h"

namespace lowtide::bench {

// What one step took the host beside its ops, and what was done.
struct MemoryStep {
  double allocate_seconds = 0;
  // To choose what is moved for blocks that found no room in one piece.
  double choose_seconds = 0;
  // Between this step and the next: to lay out, and to bring blocks home.
  double layout_seconds = 0;
  double home_seconds = 0;
  std::int64_t searches = 0;
  std::int64_t moved = 0;
  std::int64_t came_home = 0;
  std::int64_t stitched = 0;
  std::int64_t evicted = 0;
  bool is_laid_out = false;
};

// The pages of a device under a budget, used as CudaGate and LargeBlocks use them, with nothing
// behind the addresses.
class LargeMemory {
 public:
  // Smaller blocks are torch's allocator's.
  static constexpr std::int64_t kLeastBytes = (std::int64_t{1} << 20) + 1;

  explicit LargeMemory(std::int64_t budget_bytes);
  ~LargeMemory();
  LargeMemory(const LargeMemory&) = delete;
  LargeMemory& operator=(const LargeMemory&) = delete;

  std::int64_t pages() const { return pages_; }
  MemoryStep carry_out(const StepBlocks& step);

 private:
  class Mapper;
  // A block that is out; no data: it was evicted.
  struct Out {
    void* data = nullptr;
    std::int64_t bytes = 0;
  };

  void begin_with_what_is_there(const StepBlocks& step);
  void end_step(const StepBlocks& step);
  void come(const StepBlock& block, std::size_t number);
  void go(std::size_t number);
  void* take(std::int64_t bytes);
  bool evict_for(std::int64_t bytes);
  std::size_t carry_out_moves(const std::vector<engine::BlockMove>& moves);
  bool may_move(void* data) const { return whose_.contains(data) && data != in_use_; }

  const std::int64_t pages_;
  std::unique_ptr<Mapper> mapper_;
  engine::PageArena arena_;
  // Of the step under way, by number; and what was handed on to it, by storage.
  std::unordered_map<std::size_t, Out> out_;
  std::unordered_map<std::int32_t, Out> kept_;
  // By address: whose data it is.
  std::unordered_map<void*, Out*> whose_;
  // An op that asks for memory is using what was made last.
  void* in_use_ = nullptr;
  MemoryStep now_;
};

}  // namespace lowtide::bench
