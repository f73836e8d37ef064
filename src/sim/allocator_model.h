// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "base/sorted_chunks.h"
#include "lowtide/machine.h"

namespace lowtide::sim {

// What torch 2.11's caching allocator would take from the device for a sequence of requests and
// frees on one stream. Nothing is allocated: the model only keeps the books of segments and blocks.
//
//   request  rounded up to round_bytes; small pool up to small_bytes, else the large one
//   search   the smallest free block that is big enough, at the lowest address among equals
//   miss     a new segment: small_segment_bytes | large_segment_bytes | the size in
//   large_round_bytes split    small pool: when at least round_bytes are left over; large: more
//   than small_bytes free     merges with free neighbours in the same segment limit    when a
//   segment would pass it, every segment that is wholly free is given back; if it
//            still does not fit, that counts as a failure, and the segment is taken all the same,
//            so that a simulation can go on. (torch also has a step that gives back single oversize
//            blocks first; it does nothing unless max_split_size is set.)
//
// With expandable segments each pool is one segment that grows by pages of its segment size. Among
// free blocks, one that could still grow counts as that much larger; over the limit, every whole
// page that is free is unmapped, which leaves holes that later requests map again.
//
// malloc and free take O(log n) steps in the number of blocks n, as SortedChunks counts them.
// Giving memory back takes time in proportion to what is given back, and mapping pages to the
// number of holes.
class AllocatorModel {
 public:
  using Handle = std::int32_t;
  // Of a request for no bytes: it takes nothing and may be freed.
  static constexpr Handle kNothing = -1;

  // Where a block lies; segments have no addresses towards each other but their order of creation.
  struct Range {
    std::int32_t segment = 0;
    std::int64_t offset_bytes = 0;
    std::int64_t bytes = 0;
  };

  AllocatorModel(const AllocatorRules& rules, std::int64_t limit_bytes);

  Handle malloc(std::int64_t bytes);
  // Requires: the handle came from malloc and was not freed since.
  void free(Handle handle);

  Range range(Handle handle) const;
  // Of live blocks, with what was not split off them.
  std::int64_t allocated_bytes() const { return allocated_bytes_; }
  std::int64_t reserved_bytes() const { return reserved_bytes_; }
  std::int64_t reserved_peak_bytes() const { return reserved_peak_bytes_; }
  // Requests that went beyond the limit.
  std::int64_t failures() const { return failures_; }

 private:
  // Best fit is the lower bound of a size.
  struct Key {
    std::int64_t bytes = 0;
    std::int32_t segment = 0;
    Handle handle = kNothing;
    std::int64_t offset_bytes = 0;
    friend bool operator<(const Key& a, const Key& b) {
      return std::tie(a.bytes, a.segment, a.offset_bytes) <
             std::tie(b.bytes, b.segment, b.offset_bytes);
    }
  };

  // Best fit finds blocks in no order that a cache could guess, so each is kept within one line.
  struct alignas(32) Block {
    std::int64_t offset_bytes = 0;
    std::int64_t bytes = 0;
    // Neighbours in the segment, or kNothing.
    Handle previous = kNothing;
    Handle next = kNothing;
    // Its place in Pool::whole, if it is there.
    std::int32_t whole_index = -1;
    std::uint32_t segment : 29 = 0;
    bool is_small : 1 = false;
    bool is_live : 1 = false;
    bool is_mapped : 1 = true;
  };
  static_assert(sizeof(Block) == 32);
  static constexpr std::uint32_t kLastSegment = (1U << 29U) - 1;

  struct Pool {
    bool is_small = false;
    std::int64_t page_bytes = 0;
    base::SortedChunks<Key> free;
    // The free blocks that are a whole segment, in no order.
    std::vector<Handle> whole;
    // Expandable segments only: address space without memory. Offset and size are whole pages.
    base::SortedChunks<Key> unmapped;
  };

  Pool& pool_of(const Block& block) { return pools_[block.is_small ? 0 : 1]; }
  Block& at(Handle handle) { return blocks_[static_cast<std::size_t>(handle)]; }
  const Block& at(Handle handle) const { return blocks_[static_cast<std::size_t>(handle)]; }
  Key key(Handle handle) const;

  Handle take_free(Pool& pool, std::int64_t bytes);
  Handle take_new(Pool& pool, std::int64_t bytes);
  Handle new_segment(Pool& pool, std::int64_t bytes);
  std::int64_t segment_bytes_for(std::int64_t bytes) const;
  bool is_worth_splitting(const Pool& pool, std::int64_t rest_bytes) const;
  // Cuts a block that is in no set after its first `bytes`; the rest, in no set either, is
  // returned.
  Handle cut(Handle handle, std::int64_t bytes);
  // Joins a block that is in no set with its free neighbours of the same sort.
  void merge_neighbours(Handle handle);
  void absorb(Handle into, Handle neighbour);
  void insert(Handle handle);
  void erase(Handle handle);
  void add_whole(Pool& pool, Handle handle);
  void remove_whole(Pool& pool, Handle handle);
  Handle new_block(const Block& block);
  void reserve(std::int64_t bytes);
  void give_back();

  Handle grow(Pool& pool, std::int64_t bytes);
  Handle find_growable(Pool& pool, std::int64_t bytes) const;
  bool has_address_space(Handle handle, std::int64_t bytes) const;
  std::int64_t expandable_bytes(Handle handle) const;
  void map(Pool& pool, Handle handle, std::int64_t bytes);
  void unmap(Pool& pool, Handle handle);

  AllocatorRules rules_;
  std::int64_t limit_bytes_;
  std::array<Pool, 2> pools_;
  std::vector<Block> blocks_;
  std::vector<Handle> unused_blocks_;
  std::uint32_t segments_ = 0;
  std::int64_t allocated_bytes_ = 0;
  std::int64_t reserved_bytes_ = 0;
  std::int64_t reserved_peak_bytes_ = 0;
  std::int64_t failures_ = 0;
};

}  // namespace lowtide::sim
