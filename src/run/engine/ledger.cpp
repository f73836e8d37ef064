// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/ledger.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"

namespace lowtide::engine {

Ledger::Shard& Ledger::shard_of(void* data) const {
  // Blocks are aligned to 64 bytes at least, and large ones to pages: mix the higher bits in.
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  return shards_[((address >> 6) ^ (address >> 12) ^ (address >> 21)) % kShards];
}

void Ledger::raise_peaks(std::int64_t held) {
  for (std::atomic<std::int64_t>* mark : {&peak_bytes_, &watermark_bytes_, &step_peak_bytes_}) {
    std::int64_t peak = mark->load(std::memory_order_relaxed);
    while (held > peak && !mark->compare_exchange_weak(peak, held, std::memory_order_relaxed)) {
    }
  }
}

bool Ledger::try_admit(std::int64_t bytes, std::int64_t cap_bytes) {
  std::int64_t held = held_bytes_.load(std::memory_order_relaxed);
  do {
    if (bytes > cap_bytes - held) return false;
  } while (!held_bytes_.compare_exchange_weak(held, held + bytes, std::memory_order_relaxed));
  raise_peaks(held + bytes);
  admitted_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

Overflow* Ledger::admit(std::int64_t bytes) {
  if (Overflow* out = overflow()) return try_admit(bytes, budget_bytes()) ? nullptr : out;
  while (!try_admit(bytes, budget_bytes() - margin_bytes())) {
    const std::int64_t over = held_bytes() + bytes - (budget_bytes() - margin_bytes());
    // Someone else may have freed in between; then there is nothing to evict and all is well.
    if (over <= 0) continue;
    if (!make_room(over, bytes)) {
      if (try_admit(bytes, budget_bytes())) return nullptr;
      refuse(bytes);
    }
  }
  return nullptr;
}

void Ledger::admit_without_evicting(std::int64_t bytes) {
  if (!try_admit(bytes, budget_bytes())) refuse(bytes);
}

void Ledger::keep_cap() {
  while (held_bytes() > budget_bytes()) {
    const std::int64_t over = held_bytes() - budget_bytes();
    if (over > 0 && !make_room(over, 0) && held_bytes() > budget_bytes()) refuse(0);
  }
}

void Ledger::refuse(std::int64_t bytes) {
  refused_.fetch_add(1, std::memory_order_relaxed);
  const std::int64_t held = held_bytes();
  const std::string asked =
      bytes > 0 ? base::concat(base::format_bytes(bytes), " were asked for while ") : "";
  std::string message =
      base::concat("out of memory. The budget of ", base::format_bytes(budget_bytes()),
                   " cannot be kept: ", asked, base::format_bytes(held),
                   " are held and nothing more can be evicted.");
  if (Evictor* evictor = evictor_.load(std::memory_order_acquire)) {
    message += evictor->describe_shortage(bytes);
  }
  throw OutOfMemory(message, bytes, held);
}

bool Ledger::evict_more(std::int64_t bytes) {
  if (overflow() != nullptr) return false;
  shortages_.fetch_add(1, std::memory_order_relaxed);
  return make_room(bytes, bytes);
}

bool Ledger::make_room(std::int64_t bytes, std::int64_t request_bytes) {
  pleas_.fetch_add(1, std::memory_order_relaxed);
  Evictor* evictor = evictor_.load(std::memory_order_acquire);
  const bool is_room_made = evictor != nullptr && evictor->evict(bytes, request_bytes) > 0;
  // What was evicted is no part of what the op under way needs.
  start_watermark();
  return is_room_made;
}

void Ledger::add_block(void* data, std::int64_t bytes, void* stream) {
  if (data == nullptr) {
    release(bytes);
    return;
  }
  enter(data, {.bytes = bytes, .stream = stream});
}

void* Ledger::allocate_overflow(Overflow& overflow, std::int64_t bytes, void* stream) {
  void* data = overflow.allocate_overflow(bytes);
  if (data == nullptr) refuse(bytes);
  overflowed_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  enter(data, {.bytes = bytes, .stream = stream, .overflow = &overflow});
  return data;
}

void Ledger::enter(void* data, const Block& block) {
  Shard& shard = shard_of(data);
  const std::lock_guard lock(shard.mutex);
  shard.blocks[data] = block;
}

void Ledger::adopt_block(void* data, std::int64_t bytes, bool already_counted) {
  if (!already_counted) held_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  enter(data, {.bytes = bytes});
}

std::optional<Block> Ledger::remove_block(void* data) {
  Shard& shard = shard_of(data);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.blocks.find(data);
  if (found == shard.blocks.end()) return std::nullopt;
  const Block block = found->second;
  shard.blocks.erase(found);
  if (block.overflow == nullptr) release(block.bytes);
  // Under the lock: whoever takes the block's owner away knows that no notice of it comes
  // afterwards.
  Evictor* evictor = evictor_.load(std::memory_order_acquire);
  const bool is_told = block.owner != nullptr || block.is_copied;
  if (is_told && evictor != nullptr) evictor->on_block_freed(data, block);
  return block;
}

void Ledger::rename_block(void* from, void* to) {
  Block block;
  {
    Shard& shard = shard_of(from);
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.blocks.find(from);
    LT_CHECK(found != shard.blocks.end(), "no such block: ", from);
    block = found->second;
    shard.blocks.erase(found);
  }
  enter(to, block);
}

bool Ledger::move_together(MovableBlocks& blocks) {
  if (overflow() != nullptr) return false;
  pleas_.fetch_add(1, std::memory_order_relaxed);
  Evictor* evictor = evictor_.load(std::memory_order_acquire);
  return evictor != nullptr && evictor->move_together(blocks);
}

std::optional<Block> Ledger::find_block(void* data) const {
  Shard& shard = shard_of(data);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.blocks.find(data);
  if (found == shard.blocks.end()) return std::nullopt;
  return found->second;
}

std::optional<Block> Ledger::set_owner(void* data, void* owner) {
  Shard& shard = shard_of(data);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.blocks.find(data);
  if (found == shard.blocks.end()) return std::nullopt;
  found->second.owner = owner;
  return found->second;
}

void Ledger::clear_owner(void* data, const void* owner) {
  Shard& shard = shard_of(data);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.blocks.find(data);
  if (found != shard.blocks.end() && found->second.owner == owner) found->second.owner = nullptr;
}

void Ledger::mark_shared_between_streams(void* data) {
  Shard& shard = shard_of(data);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.blocks.find(data);
  if (found != shard.blocks.end()) found->second.shared_between_streams = true;
}

void Ledger::set_copied(void* data, bool is_copied) {
  Shard& shard = shard_of(data);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.blocks.find(data);
  if (found != shard.blocks.end()) found->second.is_copied = is_copied;
}

}  // namespace lowtide::engine
