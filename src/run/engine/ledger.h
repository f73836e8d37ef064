// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "run/engine/evictor.h"
#include "run/engine/overflow.h"

namespace lowtide::engine {

// One block that a gate handed out.
struct Block {
  std::int64_t bytes = 0;
  // What the books know the block's storage by; null until an op has touched it.
  void* owner = nullptr;
  // What the device calls the stream that it was allocated on; see Device::current_stream().
  void* stream = nullptr;
  // Other streams than that one use it, or something else that we do not see (a CUDA graph, another
  // process), so it must stay where it is.
  bool shared_between_streams = false;
  // It is being copied; see Device::finish_copy().
  bool is_copied = false;
  // Where it lies if that is outside of the cap; null for a block under it.
  Overflow* overflow = nullptr;
};

// The bytes of one device: which blocks are out, how much they take, and the cap. A gate asks
// before it allocates and tells of every free. All functions may be called from any thread; the
// evictor is called with no lock held.
class Ledger {
 public:
  static constexpr std::int64_t kNoBudget = std::numeric_limits<std::int64_t>::max();

  // Reserves `bytes` under the cap, evicting for it, and returns null. Without room: returns what
  // is to take the block; see set_overflow(). Throws OutOfMemory when there is neither.
  [[nodiscard]] Overflow* admit(std::int64_t bytes);
  // As admit(), where nothing may be evicted.
  void admit_without_evicting(std::int64_t bytes);
  // Gives a reservation back.
  void release(std::int64_t bytes) { held_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
  // The device itself ran out although the cap was kept: frees more. False: nothing is left.
  bool evict_more(std::int64_t bytes);
  // Adopted blocks may be more than there was room for: evicts what is too much. Throws OutOfMemory
  // when nothing is left to evict.
  void keep_cap();
  // Throws OutOfMemory for a request of this size.
  [[noreturn]] void refuse(std::int64_t bytes);

  // While there is one, nothing is evicted: what does not fit goes there. Null ends that.
  void set_overflow(Overflow* overflow) { overflow_.store(overflow, std::memory_order_release); }
  Overflow* overflow() const { return overflow_.load(std::memory_order_acquire); }
  // A block outside of the cap. Throws OutOfMemory when there is no memory for it either.
  void* allocate_overflow(Overflow& overflow, std::int64_t bytes, void* stream = nullptr);
  // In such blocks since the start, whether or not they were freed since.
  std::int64_t overflowed_bytes() const {
    return overflowed_bytes_.load(std::memory_order_relaxed);
  }

  // A block of an admitted size is out.
  void add_block(void* data, std::int64_t bytes, void* stream = nullptr);
  // Counts a block that was allocated before the gate was there. No peak rises by that: its bytes
  // were taken all the while. Before more work is done, keep_cap() makes room for it.
  void adopt_block(void* data, std::int64_t bytes, bool already_counted);
  // The block's bytes are free from now on; returns what it was, nothing for one that is not ours.
  std::optional<Block> remove_block(void* data);
  std::optional<Block> find_block(void* data) const;
  // Returns the block; nothing for one that is not ours.
  std::optional<Block> set_owner(void* data, void* owner);
  // If the block is still this owner's: its memory may have been handed out anew.
  void clear_owner(void* data, const void* owner);
  void mark_shared_between_streams(void* data);
  // Device::start_copy_out() or start_copy_in() was called for the block, or finish_copy().
  void set_copied(void* data, bool is_copied);

  // Bytes that are held outside of blocks, such as what was allocated before the gate.
  void count_outside(std::int64_t bytes) {
    held_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }

  // The block is at another place from now on. Requires: nobody can free it meanwhile.
  void rename_block(void* from, void* to);
  // See Evictor; false also where nothing may be evicted.
  bool move_together(MovableBlocks& blocks);

  void set_budget(std::int64_t bytes) { budget_bytes_.store(bytes, std::memory_order_relaxed); }
  // Evicts so that this much of the budget stays free, for an allocator below that cannot use every
  // byte of it: it needs room in one piece. The margin is used before anything is refused.
  void set_margin(std::int64_t bytes) { margin_bytes_.store(bytes, std::memory_order_relaxed); }
  std::int64_t margin_bytes() const { return margin_bytes_.load(std::memory_order_relaxed); }
  std::int64_t budget_bytes() const { return budget_bytes_.load(std::memory_order_relaxed); }
  std::int64_t held_bytes() const { return held_bytes_.load(std::memory_order_relaxed); }
  std::int64_t peak_bytes() const { return peak_bytes_.load(std::memory_order_relaxed); }
  void reset_peak() { peak_bytes_.store(held_bytes(), std::memory_order_relaxed); }
  // The most that was held since the last call of start_watermark(): by one op.
  void start_watermark() { watermark_bytes_.store(held_bytes(), std::memory_order_relaxed); }
  std::int64_t watermark_bytes() const { return watermark_bytes_.load(std::memory_order_relaxed); }
  // The most that was held since the last call of start_step().
  void start_step() { step_peak_bytes_.store(held_bytes(), std::memory_order_relaxed); }
  std::int64_t step_peak_bytes() const { return step_peak_bytes_.load(std::memory_order_relaxed); }
  // Not while allocations are under way.
  void set_evictor(Evictor* evictor) { evictor_.store(evictor, std::memory_order_release); }

  // How many allocations were admitted, and how many refused since the start.
  std::int64_t admitted() const { return admitted_.load(std::memory_order_relaxed); }
  std::int64_t refused() const { return refused_.load(std::memory_order_relaxed); }
  // How often evict_more() was asked for room.
  std::int64_t shortages() const { return shortages_.load(std::memory_order_relaxed); }
  // How often the evictor was asked for room, for any reason.
  std::int64_t pleas() const { return pleas_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kShards = 16;
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    std::unordered_map<void*, Block> blocks;
  };
  Shard& shard_of(void* data) const;
  bool try_admit(std::int64_t bytes, std::int64_t cap_bytes);
  void raise_peaks(std::int64_t held);
  // False: no room was made.
  bool make_room(std::int64_t bytes, std::int64_t request_bytes);
  void enter(void* data, const Block& block);

  mutable std::array<Shard, kShards> shards_;
  // Counters only: nothing is published through them, so relaxed order is enough.
  std::atomic<std::int64_t> held_bytes_{0};
  std::atomic<std::int64_t> peak_bytes_{0};
  std::atomic<std::int64_t> watermark_bytes_{0};
  std::atomic<std::int64_t> step_peak_bytes_{0};
  std::atomic<std::int64_t> overflowed_bytes_{0};
  std::atomic<std::int64_t> budget_bytes_{kNoBudget};
  std::atomic<std::int64_t> margin_bytes_{0};
  std::atomic<std::int64_t> admitted_{0};
  std::atomic<std::int64_t> refused_{0};
  std::atomic<std::int64_t> shortages_{0};
  std::atomic<std::int64_t> pleas_{0};
  std::atomic<Evictor*> evictor_{nullptr};
  std::atomic<Overflow*> overflow_{nullptr};
};

}  // namespace lowtide::engine
