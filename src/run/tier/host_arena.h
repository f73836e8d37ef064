// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace lowtide::tier {

// Host memory for values that were moved off the device, under a cap of its own. It takes memory in
// large chunks, since pinning is slow, and hands out ranges of them: best fit, neighbours joined
// again when they are freed. It never touches the memory itself, so the chunks may be pinned, plain
// or not there at all. A Device owns one; all functions may be called from any thread.
class HostArena {
 public:
  // Null when there is no such memory. What it returns is aligned to kGranularityBytes at least.
  using AllocateChunk = std::function<void*(std::int64_t bytes)>;
  using FreeChunk = std::function<void(void* chunk, std::int64_t bytes)>;

  static constexpr std::int64_t kNoCap = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t kChunkBytes = std::int64_t{256} << 20;
  // Sizes are rounded up to it, and addresses are multiples of it: what a file that is read and
  // written past the cache of the kernel asks for.
  static constexpr std::int64_t kGranularityBytes = 4096;

  HostArena(AllocateChunk allocate_chunk, FreeChunk free_chunk, std::int64_t cap_bytes = kNoCap);
  // Gives all chunks back, whatever is still out.
  ~HostArena();
  HostArena(const HostArena&) = delete;
  HostArena& operator=(const HostArena&) = delete;

  // Null when the cap or the host's memory does not allow it. Requires: bytes >= 0.
  void* allocate(std::int64_t bytes);
  // Requires: null, or what allocate() returned and nobody freed.
  void free(void* data);
  // Takes memory now, so that this much is there when it is needed; less where it cannot be had.
  void reserve(std::int64_t bytes);
  // Gives empty chunks back.
  void trim();

  // Binds the chunks too. A lower cap than what is out refuses new ranges and takes none back.
  void set_cap(std::int64_t bytes);
  std::int64_t cap_bytes() const;
  // In ranges that are out, the most that ever was, and in chunks.
  std::int64_t held_bytes() const;
  std::int64_t peak_bytes() const;
  std::int64_t reserved_bytes() const;

 private:
  using Address = std::uintptr_t;
  struct Range {
    std::int64_t bytes;
    // Where its chunk starts: ranges are joined only within one.
    Address chunk;
    bool is_free;
  };
  using Ranges = std::map<Address, Range>;

  // All of these need the lock.
  bool grow(std::int64_t bytes);
  void* take_best_fit(std::int64_t bytes);
  void add_free(Address address, const Range& range);
  void remove_free(Ranges::iterator range);
  Ranges::iterator join_with_next(Ranges::iterator range);
  void trim_locked();

  const AllocateChunk allocate_chunk_;
  const FreeChunk free_chunk_;
  mutable std::mutex mutex_;
  // The members below are guarded by mutex_. Ranges cover the chunks without a gap, and no two free
  // ones of a chunk are neighbours.
  std::map<Address, std::int64_t> chunks_;
  Ranges ranges_;
  // The free ranges by size, then address: the first that is large enough is the best fit.
  std::set<std::pair<std::int64_t, Address>> free_;
  std::int64_t cap_bytes_;
  std::int64_t held_bytes_ = 0;
  std::int64_t peak_bytes_ = 0;
  std::int64_t reserved_bytes_ = 0;
};

}  // namespace lowtide::tier
