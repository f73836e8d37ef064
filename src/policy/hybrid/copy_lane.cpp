// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/copy_lane.h"

#include <algorithm>
#include <limits>

namespace lowtide::policy {
namespace {

// A block with more stretches becomes two.
constexpr std::size_t kMostInBlock = 128;
// Gaps are differences and slots are sums: a gap that is narrower by no more than rounding counts
// as wide enough to be looked at.
constexpr double kSurelyNarrower = 1 - 1e-9;

}  // namespace

CopyLane::Place CopyLane::after(Place place) const {
  if (++place.index < blocks_[place.block].stretches.size()) return place;
  return {place.block + 1, 0};
}

CopyLane::Place CopyLane::before(Place place) const {
  if (place.index > 0) return {place.block, place.index - 1};
  return {place.block - 1, blocks_[place.block - 1].stretches.size() - 1};
}

CopyLane::Place CopyLane::first_from(double time) const {
  const auto starts_before = [](const Slot& stretch, double wanted) {
    return stretch.start < wanted;
  };
  // The last block that begins before that time, if any, has the stretch or ends before it.
  const auto next = std::lower_bound(blocks_.begin(), blocks_.end(), time,
                                     [&](const Block& block, double wanted) {
                                       return starts_before(block.stretches.front(), wanted);
                                     });
  if (next == blocks_.begin()) return {};
  const auto block = static_cast<std::size_t>(next - blocks_.begin()) - 1;
  const std::vector<Slot>& stretches = blocks_[block].stretches;
  const auto found = std::lower_bound(stretches.begin(), stretches.end(), time, starts_before);
  if (found == stretches.end()) return {block + 1, 0};
  return {block, static_cast<std::size_t>(found - stretches.begin())};
}

bool CopyLane::is_too_full(std::size_t block, double length) const {
  return blocks_[block].widest_gap < length * kSurelyNarrower;
}

CopyLane::Slot CopyLane::earliest(double from, double length) const {
  double start = from;
  Place next = first_from(from);
  if (!is_end(next) && at(next).start == from) next = after(next);
  if (!is_first(next)) start = std::max(start, at(before(next)).end);
  while (!is_end(next) && at(next).start < start + length) {
    const bool passes_all = next.index == 0 && is_too_full(next.block, length);
    start = passes_all ? blocks_[next.block].stretches.back().end : at(next).end;
    next = passes_all ? Place{next.block + 1, 0} : after(next);
  }
  return {start, start + length};
}

CopyLane::Slot CopyLane::latest(double by, double length) const {
  return *latest_nearby(by, length, std::numeric_limits<std::size_t>::max());
}

std::optional<CopyLane::Slot> CopyLane::latest_nearby(double by, double length,
                                                      std::size_t stretches) const {
  double end = by;
  // The first stretch that starts at `by` or later does not matter; those before it may.
  Place next = first_from(by);
  while (!is_first(next)) {
    Place previous = before(next);
    if (at(previous).end <= end - length) break;
    const bool passes_all = next.index == 0 && is_too_full(previous.block, length);
    const std::size_t passed = passes_all ? previous.index + 1 : 1;
    if (stretches < passed) return std::nullopt;
    stretches -= passed;
    if (passes_all) previous.index = 0;
    end = std::min(end, at(previous).start);
    next = previous;
  }
  return Slot{end - length, end};
}

void CopyLane::take(Slot slot) {
  Place next = first_from(slot.start);
  if (!is_first(next)) {
    const Place previous = before(next);
    if (at(previous).end >= slot.start) {
      slot.start = at(previous).start;
      slot.end = std::max(slot.end, at(previous).end);
      next = erase(previous);
    }
  }
  while (!is_end(next) && at(next).start <= slot.end) {
    slot.end = std::max(slot.end, at(next).end);
    next = erase(next);
  }
  insert(next, slot);
}

CopyLane::Place CopyLane::erase(Place place) {
  Block& block = blocks_[place.block];
  block.stretches.erase(block.stretches.begin() + static_cast<std::ptrdiff_t>(place.index));
  if (block.stretches.empty()) {
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(place.block));
    return {place.block, 0};
  }
  measure(block);
  return place.index < block.stretches.size() ? place : Place{place.block + 1, 0};
}

void CopyLane::insert(Place place, Slot stretch) {
  if (blocks_.empty()) blocks_.emplace_back();
  if (place.index == 0 && place.block > 0) {
    --place.block;
    place.index = blocks_[place.block].stretches.size();
  }
  Block& block = blocks_[place.block];
  block.stretches.insert(block.stretches.begin() + static_cast<std::ptrdiff_t>(place.index),
                         stretch);
  measure(block);
  if (block.stretches.size() > kMostInBlock) split(place.block);
}

void CopyLane::split(std::size_t block) {
  Block second;
  std::vector<Slot>& first = blocks_[block].stretches;
  const auto middle = first.begin() + static_cast<std::ptrdiff_t>(first.size() / 2);
  second.stretches.assign(middle, first.end());
  first.erase(middle, first.end());
  measure(blocks_[block]);
  measure(second);
  blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(block) + 1, std::move(second));
}

void CopyLane::measure(Block& block) {
  block.widest_gap = 0;
  for (std::size_t i = 1; i < block.stretches.size(); ++i) {
    const double gap = block.stretches[i].start - block.stretches[i - 1].end;
    block.widest_gap = std::max(block.widest_gap, gap);
  }
}

}  // namespace lowtide::policy
