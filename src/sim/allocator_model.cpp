// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/allocator_model.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"

namespace lowtide::sim {

AllocatorModel::AllocatorModel(const AllocatorRules& rules, std::int64_t limit_bytes)
    : rules_(rules), limit_bytes_(limit_bytes) {
  LT_REQUIRE(rules.round_bytes > 0 && rules.small_segment_bytes > 0 &&
                 rules.large_segment_bytes > 0 && rules.large_round_bytes > 0,
             "the allocator's sizes must be positive");
  pools_[0].is_small = true;
  pools_[0].page_bytes = rules.small_segment_bytes;
  pools_[1].page_bytes = rules.large_segment_bytes;
}

AllocatorModel::Handle AllocatorModel::malloc(std::int64_t bytes) {
  if (bytes == 0) return kNothing;
  const std::int64_t rounded = base::round_up(bytes, rules_.round_bytes);
  Pool& pool = pools_[rounded <= rules_.small_bytes ? 0 : 1];
  Handle handle = take_free(pool, rounded);
  if (handle == kNothing) handle = take_new(pool, rounded);
  if (is_worth_splitting(pool, at(handle).bytes - rounded)) insert(cut(handle, rounded));
  at(handle).is_live = true;
  allocated_bytes_ += at(handle).bytes;
  return handle;
}

void AllocatorModel::free(Handle handle) {
  if (handle == kNothing) return;
  LT_CHECK(at(handle).is_live, "a block was freed twice: ", handle);
  at(handle).is_live = false;
  allocated_bytes_ -= at(handle).bytes;
  merge_neighbours(handle);
  insert(handle);
}

AllocatorModel::Range AllocatorModel::range(Handle handle) const {
  if (handle == kNothing) return {};
  const Block& block = at(handle);
  return {static_cast<std::int32_t>(block.segment), block.offset_bytes, block.bytes};
}

AllocatorModel::Key AllocatorModel::key(Handle handle) const {
  const Block& block = at(handle);
  return {block.bytes, static_cast<std::int32_t>(block.segment), handle, block.offset_bytes};
}

AllocatorModel::Handle AllocatorModel::take_free(Pool& pool, std::int64_t bytes) {
  auto found = pool.free.lower_bound(Key{.bytes = bytes});
  if (found == pool.free.end()) return kNothing;
  if (rules_.expandable_segments) {
    // The block at the growing end is the last choice, although it may be the smallest now.
    for (auto next = found; ++next != pool.free.end() &&
                            expandable_bytes(next->handle) < expandable_bytes(found->handle);) {
      found = next;
    }
  }
  const Handle handle = found->handle;
  pool.free.erase(found);
  if (at(handle).whole_index >= 0) remove_whole(pool, handle);
  return handle;
}

AllocatorModel::Handle AllocatorModel::take_new(Pool& pool, std::int64_t bytes) {
  const std::int64_t wanted = segment_bytes_for(bytes);
  if (reserved_bytes_ + wanted > limit_bytes_) {
    give_back();
    if (reserved_bytes_ + wanted > limit_bytes_) ++failures_;
  }
  if (rules_.expandable_segments) return grow(pool, bytes);
  reserve(wanted);
  return new_segment(pool, wanted);
}

AllocatorModel::Handle AllocatorModel::new_segment(Pool& pool, std::int64_t bytes) {
  Block block;
  LT_CHECK(segments_ <= kLastSegment, "too many segments");
  block.segment = segments_++ & kLastSegment;
  block.bytes = bytes;
  block.is_small = pool.is_small;
  return new_block(block);
}

std::int64_t AllocatorModel::segment_bytes_for(std::int64_t bytes) const {
  if (bytes <= rules_.small_bytes) return std::max(bytes, rules_.small_segment_bytes);
  if (bytes < rules_.large_request_bytes) return std::max(bytes, rules_.large_segment_bytes);
  return base::round_up(bytes, rules_.large_round_bytes);
}

bool AllocatorModel::is_worth_splitting(const Pool& pool, std::int64_t rest_bytes) const {
  if (pool.is_small || rules_.expandable_segments) return rest_bytes >= rules_.round_bytes;
  return rest_bytes > rules_.small_bytes;
}

AllocatorModel::Handle AllocatorModel::cut(Handle handle, std::int64_t bytes) {
  Block rest = at(handle);
  rest.offset_bytes += bytes;
  rest.bytes -= bytes;
  rest.previous = handle;
  const Handle rest_handle = new_block(rest);
  if (rest.next != kNothing) at(rest.next).previous = rest_handle;
  at(handle).bytes = bytes;
  at(handle).next = rest_handle;
  return rest_handle;
}

void AllocatorModel::merge_neighbours(Handle handle) {
  const auto can_merge = [&](Handle other) {
    return other != kNothing && !at(other).is_live && at(other).is_mapped == at(handle).is_mapped;
  };
  if (const Handle previous = at(handle).previous; can_merge(previous)) absorb(handle, previous);
  if (const Handle next = at(handle).next; can_merge(next)) absorb(handle, next);
}

void AllocatorModel::absorb(Handle into, Handle neighbour) {
  erase(neighbour);
  Block& block = at(into);
  const Block& gone = at(neighbour);
  if (block.previous == neighbour) {
    block.offset_bytes = gone.offset_bytes;
    block.previous = gone.previous;
    if (block.previous != kNothing) at(block.previous).next = into;
  } else {
    block.next = gone.next;
    if (block.next != kNothing) at(block.next).previous = into;
  }
  block.bytes += gone.bytes;
  unused_blocks_.push_back(neighbour);
}

void AllocatorModel::insert(Handle handle) {
  const Block& block = at(handle);
  Pool& pool = pool_of(block);
  (block.is_mapped ? pool.free : pool.unmapped).insert(key(handle));
  const bool is_whole = block.previous == kNothing && block.next == kNothing;
  if (block.is_mapped && is_whole) add_whole(pool, handle);
}

void AllocatorModel::erase(Handle handle) {
  const Block& block = at(handle);
  Pool& pool = pool_of(block);
  (block.is_mapped ? pool.free : pool.unmapped).erase(key(handle));
  if (block.whole_index >= 0) remove_whole(pool, handle);
}

void AllocatorModel::add_whole(Pool& pool, Handle handle) {
  at(handle).whole_index = static_cast<std::int32_t>(pool.whole.size());
  pool.whole.push_back(handle);
}

void AllocatorModel::remove_whole(Pool& pool, Handle handle) {
  const std::int32_t index = std::exchange(at(handle).whole_index, -1);
  const Handle last = pool.whole.back();
  pool.whole.pop_back();
  if (last == handle) return;
  pool.whole[static_cast<std::size_t>(index)] = last;
  at(last).whole_index = index;
}

AllocatorModel::Handle AllocatorModel::new_block(const Block& block) {
  if (unused_blocks_.empty()) {
    blocks_.push_back(block);
    return static_cast<Handle>(blocks_.size() - 1);
  }
  const Handle handle = unused_blocks_.back();
  unused_blocks_.pop_back();
  at(handle) = block;
  return handle;
}

void AllocatorModel::reserve(std::int64_t bytes) {
  reserved_bytes_ += bytes;
  reserved_peak_bytes_ = std::max(reserved_peak_bytes_, reserved_bytes_);
}

void AllocatorModel::give_back() {
  for (Pool& pool : pools_) {
    if (rules_.expandable_segments) {
      std::vector<Handle> candidates;
      for (auto i = pool.free.lower_bound(Key{.bytes = pool.page_bytes}); i != pool.free.end();
           ++i) {
        candidates.push_back(i->handle);
      }
      for (const Handle handle : candidates) unmap(pool, handle);
      continue;
    }
    for (const Handle whole : pool.whole) {
      pool.free.erase(key(whole));
      reserved_bytes_ -= at(whole).bytes;
      unused_blocks_.push_back(whole);
    }
    pool.whole.clear();
  }
}

}  // namespace lowtide::sim
