// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "sim/allocator_model.h"

// Expandable segments: the part of AllocatorModel that maps and unmaps pages.

namespace lowtide::sim {
namespace {

// Address space of a segment; more than any sum of sizes that a trace may have at one time.
constexpr std::int64_t kAddressBytes = std::int64_t{1} << 62;

}  // namespace

std::int64_t AllocatorModel::expandable_bytes(Handle handle) const {
  const Block& block = at(handle);
  const bool can_grow = block.next != kNothing && !at(block.next).is_mapped;
  return block.bytes + (can_grow ? at(block.next).bytes : 0);
}

bool AllocatorModel::has_address_space(Handle handle, std::int64_t bytes) const {
  std::int64_t found = 0;
  while (found < bytes && handle != kNothing && !at(handle).is_live) {
    found += at(handle).bytes;
    handle = at(handle).next;
  }
  return found >= bytes;
}

AllocatorModel::Handle AllocatorModel::find_growable(Pool& pool, std::int64_t bytes) const {
  for (const Key& hole : pool.unmapped) {
    Handle start = hole.handle;
    const Handle before = at(start).previous;
    if (before != kNothing && !at(before).is_live) start = before;
    if (has_address_space(start, bytes)) return start;
  }
  return kNothing;
}

AllocatorModel::Handle AllocatorModel::grow(Pool& pool, std::int64_t bytes) {
  Handle start = find_growable(pool, bytes);
  if (start == kNothing) {
    start = new_segment(pool, kAddressBytes / pool.page_bytes * pool.page_bytes);
    at(start).is_mapped = false;
    insert(start);
  }
  if (!at(start).is_mapped) map(pool, start, std::min(at(start).bytes, bytes));
  // Mapping joins the new pages with what is free before and behind them, so the block that counts
  // is always the one that was mapped last.
  while (at(start).bytes < bytes) {
    const Handle hole = at(start).next;
    const std::int64_t missing = bytes - at(start).bytes;
    map(pool, hole, std::min(at(hole).bytes, missing));
    start = hole;
  }
  erase(start);
  return start;
}

void AllocatorModel::map(Pool& pool, Handle handle, std::int64_t bytes) {
  LT_CHECK(!at(handle).is_mapped, "block ", handle, " is mapped already");
  erase(handle);
  const std::int64_t pages_bytes = base::round_up(bytes, pool.page_bytes);
  if (pages_bytes < at(handle).bytes) insert(cut(handle, pages_bytes));
  reserve(pages_bytes);
  at(handle).is_mapped = true;
  merge_neighbours(handle);
  insert(handle);
}

void AllocatorModel::unmap(Pool& pool, Handle handle) {
  const Range range = this->range(handle);
  const std::int64_t end = range.offset_bytes + range.bytes;
  const std::int64_t first_page = base::round_up(range.offset_bytes, pool.page_bytes);
  const std::int64_t last_page = end / pool.page_bytes * pool.page_bytes;
  if (last_page <= first_page) return;
  erase(handle);
  Handle pages = handle;
  if (first_page > range.offset_bytes) {
    pages = cut(handle, first_page - range.offset_bytes);
    insert(handle);
  }
  if (last_page < end) insert(cut(pages, last_page - first_page));
  reserved_bytes_ -= last_page - first_page;
  at(pages).is_mapped = false;
  merge_neighbours(pages);
  insert(pages);
}

}  // namespace lowtide::sim
