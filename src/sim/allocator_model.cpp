// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/allocator_model.h"

#include <algorithm>
#include <iterator>

#include "base/bytes.h"
#include "base/check.h"

namespace lowtide::sim {

AllocatorModel::AllocatorModel(const AllocatorRules& rules, std::int64_t limit_bytes)
    : rules_(rules),
      limit_bytes_(limit_bytes),
      nodes_(std::make_unique<std::pmr::unsynchronized_pool_resource>()),
      pools_{Pool(nodes_.get()), Pool(nodes_.get())} {
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
  if (is_worth_splitting(pool, at(handle).range.bytes - rounded)) insert(cut(handle, rounded));
  at(handle).is_live = true;
  allocated_bytes_ += at(handle).range.bytes;
  return handle;
}

void AllocatorModel::free(Handle handle) {
  if (handle == kNothing) return;
  LT_CHECK(at(handle).is_live, "a block was freed twice: ", handle);
  at(handle).is_live = false;
  allocated_bytes_ -= at(handle).range.bytes;
  merge_neighbours(handle);
  insert(handle);
}

AllocatorModel::Range AllocatorModel::range(Handle handle) const {
  return handle == kNothing ? Range{} : at(handle).range;
}

AllocatorModel::Key AllocatorModel::key(Handle handle) const {
  const Range& range = at(handle).range;
  return {range.bytes, range.segment, range.offset_bytes, handle};
}

AllocatorModel::Handle AllocatorModel::take_free(Pool& pool, std::int64_t bytes) {
  auto found = pool.free.lower_bound(Key{.bytes = bytes});
  if (found == pool.free.end()) return kNothing;
  if (rules_.expandable_segments) {
    // The block at the growing end is the last choice, although it may be the smallest now.
    for (auto next = std::next(found);
         next != pool.free.end() &&
         expandable_bytes(next->handle) < expandable_bytes(found->handle);
         ++next) {
      found = next;
    }
  }
  const Handle handle = found->handle;
  erase(handle);
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
  block.range = {segments_++, 0, bytes};
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
  rest.range.offset_bytes += bytes;
  rest.range.bytes -= bytes;
  rest.previous = handle;
  const Handle rest_handle = new_block(rest);
  if (rest.next != kNothing) at(rest.next).previous = rest_handle;
  at(handle).range.bytes = bytes;
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
    block.range.offset_bytes = gone.range.offset_bytes;
    block.previous = gone.previous;
    if (block.previous != kNothing) at(block.previous).next = into;
  } else {
    block.next = gone.next;
    if (block.next != kNothing) at(block.next).previous = into;
  }
  block.range.bytes += gone.range.bytes;
  unused_blocks_.push_back(neighbour);
}

void AllocatorModel::insert(Handle handle) {
  const Block& block = at(handle);
  Pool& pool = pool_of(block);
  if (!block.is_mapped) {
    pool.unmapped.insert(key(handle));
    return;
  }
  pool.free.insert(key(handle));
  if (block.previous == kNothing && block.next == kNothing) pool.whole.insert(key(handle));
}

void AllocatorModel::erase(Handle handle) {
  Pool& pool = pool_of(at(handle));
  if (!at(handle).is_mapped) {
    pool.unmapped.erase(key(handle));
    return;
  }
  pool.free.erase(key(handle));
  pool.whole.erase(key(handle));
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
    for (const Key& whole : pool.whole) {
      pool.free.erase(whole);
      reserved_bytes_ -= whole.bytes;
      unused_blocks_.push_back(whole.handle);
    }
    pool.whole.clear();
  }
}

}  // namespace lowtide::sim
