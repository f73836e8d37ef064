// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/device_memory.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace lowtide::sim {

DeviceMemory::DeviceMemory(const AllocatorRules& rules, std::int64_t budget_bytes)
    : budget_bytes_(budget_bytes), allocator_(std::in_place, rules, budget_bytes) {}

Piece DeviceMemory::allocate(std::int64_t bytes, StorageKind kind) {
  bytes_[static_cast<std::size_t>(kind)] += bytes;
  total_bytes_ += bytes;
  note_moment();
  return {bytes, kind, take_block(bytes)};
}

AllocatorModel::Handle DeviceMemory::take_block(std::int64_t bytes) {
  if (allocator_) return allocator_->malloc(bytes);
  return bytes == 0 ? AllocatorModel::kNothing : 0;
}

void DeviceMemory::free(Piece& piece) {
  bytes_[static_cast<std::size_t>(piece.kind)] -= piece.bytes;
  total_bytes_ -= piece.bytes;
  if (allocator_) allocator_->free(piece.block);
  piece = {};
}

std::size_t DeviceMemory::moves_in_the_way(std::int64_t bytes) const {
  if (bytes <= 0 || leaving_.empty()) return 0;
  const std::int64_t excess = total_bytes_ + bytes - budget_bytes_;
  // At the end of a move its bytes go and those that it promised come. What has gone in sum, less
  // what has come, must from some move on never be less than the excess; it can only fall where a
  // promise is kept.
  std::int64_t come = promised_bytes_;
  for (auto promise = promises_.rbegin(); promise != promises_.rend(); ++promise) {
    const std::int64_t moved = moved_through_[promise->first - ended_moves_];
    const std::int64_t gone = moved - (moved_bytes_ - leaving_bytes_);
    if (gone - come < excess) return moves_until(excess + come);
    come -= promise->second;
  }
  return excess <= 0 ? 0 : moves_until(excess);
}

// The number of pending moves that free this much together, or of all.
std::size_t DeviceMemory::moves_until(std::int64_t freed_bytes) const {
  const std::int64_t wanted = moved_bytes_ - leaving_bytes_ + freed_bytes;
  const auto enough = std::lower_bound(moved_through_.begin(), moved_through_.end(), wanted);
  if (enough == moved_through_.end()) return leaving_.size();
  return static_cast<std::size_t>(enough - moved_through_.begin()) + 1;
}

void DeviceMemory::start_leaving(ValueId value, Links::CopyId copy, const Piece& piece) {
  leaving_bytes_ += piece.bytes;
  moved_bytes_ += piece.bytes;
  leaving_.push_back({value, copy, piece, {}});
  moved_through_.push_back(moved_bytes_);
}

void DeviceMemory::promise(std::size_t index, ValueId fetched, std::int64_t bytes) {
  leaving_[index].promised.push_back(fetched);
  promises_[ended_moves_ + index] += bytes;
  promised_bytes_ += bytes;
}

std::vector<ValueId> DeviceMemory::end_leaving(Links::CopyId copy) {
  LT_CHECK(!leaving_.empty() && leaving_.front().copy == copy, "copy ", copy,
           " ended before copies that left the device earlier");
  Leaving ended = std::move(leaving_.front());
  leaving_.pop_front();
  moved_through_.pop_front();
  leaving_bytes_ -= ended.piece.bytes;
  if (const auto kept = promises_.find(ended_moves_); kept != promises_.end()) {
    promised_bytes_ -= kept->second;
    promises_.erase(kept);
  }
  ++ended_moves_;
  free(ended.piece);
  return std::move(ended.promised);
}

void DeviceMemory::begin_tick() {
  fullest_ = {};
  note_moment();
}

void DeviceMemory::note_moment() {
  if (total_bytes_ <= fullest_.total_bytes) return;
  fullest_ = {total_bytes_, leaving_bytes_, bytes_};
}

}  // namespace lowtide::sim
