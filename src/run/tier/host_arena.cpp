// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/tier/host_arena.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"

namespace lowtide::tier {

namespace {

constexpr std::int64_t kGranularity = HostArena::kGranularityBytes;

std::int64_t round_down(std::int64_t bytes) { return bytes / kGranularity * kGranularity; }
// A range of no bytes has an address too.
std::int64_t round_up(std::int64_t bytes) {
  return round_down(std::max<std::int64_t>(bytes, 1) - 1) + kGranularity;
}

}  // namespace

HostArena::HostArena(AllocateChunk allocate_chunk, FreeChunk free_chunk, std::int64_t cap_bytes)
    : allocate_chunk_(std::move(allocate_chunk)),
      free_chunk_(std::move(free_chunk)),
      cap_bytes_(cap_bytes) {}

HostArena::~HostArena() {
  for (const auto& [address, bytes] : chunks_) {
    free_chunk_(reinterpret_cast<void*>(address), bytes);
  }
}

void* HostArena::allocate(std::int64_t bytes) {
  LT_CHECK(bytes >= 0, "a negative size was asked for: ", bytes);
  const std::lock_guard lock(mutex_);
  if (bytes > cap_bytes_ - held_bytes_) return nullptr;
  const std::int64_t rounded = round_up(bytes);
  if (rounded > cap_bytes_ - held_bytes_) return nullptr;
  if (void* data = take_best_fit(rounded)) return data;
  return grow(rounded) ? take_best_fit(rounded) : nullptr;
}

void* HostArena::take_best_fit(std::int64_t bytes) {
  const auto fit = free_.lower_bound({bytes, 0});
  if (fit == free_.end()) return nullptr;
  const auto range = ranges_.find(fit->second);
  const std::int64_t rest = range->second.bytes - bytes;
  remove_free(range);
  range->second.is_free = false;
  range->second.bytes = bytes;
  if (rest > 0) {
    add_free(range->first + static_cast<Address>(bytes), {rest, range->second.chunk, true});
  }
  held_bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, held_bytes_);
  return reinterpret_cast<void*>(range->first);
}

bool HostArena::grow(std::int64_t bytes) {
  // Empty chunks that are too small stand in the way of one that is large enough.
  if (bytes > cap_bytes_ - reserved_bytes_) trim_locked();
  const std::int64_t room = round_down(std::max<std::int64_t>(cap_bytes_ - reserved_bytes_, 0));
  if (bytes > room) return false;
  const std::int64_t chunk_bytes = std::max(bytes, std::min(kChunkBytes, room));
  void* chunk = allocate_chunk_(chunk_bytes);
  if (chunk == nullptr) return false;
  const auto address = reinterpret_cast<Address>(chunk);
  chunks_.emplace(address, chunk_bytes);
  add_free(address, {chunk_bytes, address, true});
  reserved_bytes_ += chunk_bytes;
  return true;
}

void HostArena::reserve(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  const std::int64_t missing = std::min(bytes, cap_bytes_) - reserved_bytes_;
  if (missing > 0) grow(round_down(missing));
}

void HostArena::free(void* data) {
  if (data == nullptr) return;
  const std::lock_guard lock(mutex_);
  auto range = ranges_.find(reinterpret_cast<Address>(data));
  LT_CHECK(range != ranges_.end() && !range->second.is_free, "not a range of this arena: ", data);
  held_bytes_ -= range->second.bytes;
  range->second.is_free = true;
  free_.emplace(range->second.bytes, range->first);
  if (range != ranges_.begin()) range = join_with_next(std::prev(range));
  join_with_next(range);
}

// Returns the range that starts last: the joined one, or else the next.
HostArena::Ranges::iterator HostArena::join_with_next(Ranges::iterator range) {
  const auto next = std::next(range);
  if (next == ranges_.end()) return range;
  const bool can_join =
      range->second.is_free && next->second.is_free && range->second.chunk == next->second.chunk;
  if (!can_join) return next;
  const Range joined = {range->second.bytes + next->second.bytes, range->second.chunk, true};
  const Address address = range->first;
  remove_free(range);
  remove_free(next);
  ranges_.erase(next);
  add_free(address, joined);
  return range;
}

void HostArena::add_free(Address address, const Range& range) {
  ranges_.insert_or_assign(address, range);
  free_.emplace(range.bytes, address);
}

void HostArena::remove_free(Ranges::iterator range) {
  free_.erase({range->second.bytes, range->first});
}

void HostArena::trim() {
  const std::lock_guard lock(mutex_);
  trim_locked();
}

void HostArena::trim_locked() {
  for (auto chunk = chunks_.begin(); chunk != chunks_.end();) {
    const auto [address, bytes] = *chunk;
    const auto range = ranges_.find(address);
    if (!range->second.is_free || range->second.bytes != bytes) {
      ++chunk;
      continue;
    }
    remove_free(range);
    ranges_.erase(range);
    chunk = chunks_.erase(chunk);
    reserved_bytes_ -= bytes;
    free_chunk_(reinterpret_cast<void*>(address), bytes);
  }
}

void HostArena::set_cap(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  cap_bytes_ = bytes;
}

std::int64_t HostArena::cap_bytes() const {
  const std::lock_guard lock(mutex_);
  return cap_bytes_;
}

std::int64_t HostArena::held_bytes() const {
  const std::lock_guard lock(mutex_);
  return held_bytes_;
}

std::int64_t HostArena::peak_bytes() const {
  const std::lock_guard lock(mutex_);
  return peak_bytes_;
}

std::int64_t HostArena::reserved_bytes() const {
  const std::lock_guard lock(mutex_);
  return reserved_bytes_;
}

}  // namespace lowtide::tier
