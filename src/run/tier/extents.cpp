// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/tier/extents.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace lowtide::tier {

Extents::Extents(std::int64_t cap_bytes) : cap_bytes_(cap_bytes / kBlockBytes * kBlockBytes) {
  LT_CHECK(cap_bytes >= 0, "a negative cap: ", cap_bytes);
}

std::int64_t Extents::rounded(std::int64_t bytes) {
  return (std::max<std::int64_t>(bytes, 1) - 1) / kBlockBytes * kBlockBytes + kBlockBytes;
}

std::vector<Extent> Extents::allocate(std::int64_t bytes) {
  LT_CHECK(bytes >= 0, "a negative size was asked for: ", bytes);
  const std::lock_guard lock(mutex_);
  std::vector<Extent> taken;
  // Before it is rounded, which could pass the largest number.
  if (bytes > cap_bytes_ - held_bytes_) return taken;
  std::int64_t left = rounded(bytes);
  if (left > cap_bytes_ - held_bytes_) return taken;
  held_bytes_ += left;
  peak_bytes_ = std::max(peak_bytes_, held_bytes_);
  if (take_one_stretch(left, taken)) return taken;
  // In pieces: what is free below the end, then the end itself.
  while (left > 0 && !free_.empty()) {
    taken.push_back(take(free_.begin(), left));
    left -= taken.back().bytes;
  }
  if (left > 0) {
    taken.push_back({end_bytes_, left});
    end_bytes_ += left;
  }
  return taken;
}

// The smallest that is large enough; else the file grows, if the cap allows that.
bool Extents::take_one_stretch(std::int64_t bytes, std::vector<Extent>& taken) {
  auto best = free_.end();
  for (auto stretch = free_.begin(); stretch != free_.end(); ++stretch) {
    if (stretch->second < bytes) continue;
    if (best == free_.end() || stretch->second < best->second) best = stretch;
  }
  if (best != free_.end()) {
    taken.push_back(take(best, bytes));
    return true;
  }
  if (bytes > cap_bytes_ - end_bytes_) return false;
  taken.push_back({end_bytes_, bytes});
  end_bytes_ += bytes;
  return true;
}

Extent Extents::take(std::map<std::int64_t, std::int64_t>::iterator stretch, std::int64_t bytes) {
  const Extent taken = {stretch->first, std::min(bytes, stretch->second)};
  const Extent rest = {taken.offset + taken.bytes, stretch->second - taken.bytes};
  free_.erase(stretch);
  if (rest.bytes > 0) free_.emplace(rest.offset, rest.bytes);
  return taken;
}

void Extents::free(const std::vector<Extent>& extents) {
  const std::lock_guard lock(mutex_);
  for (const Extent& extent : extents) {
    const auto [place, is_new] = free_.emplace(extent.offset, extent.bytes);
    LT_CHECK(is_new, "freed twice: ", extent.bytes, " bytes at ", extent.offset);
    held_bytes_ -= extent.bytes;
    const auto next = std::next(place);
    if (next != free_.end() && place->first + place->second == next->first) {
      place->second += next->second;
      free_.erase(next);
    }
    if (place == free_.begin()) continue;
    const auto before = std::prev(place);
    if (before->first + before->second != place->first) continue;
    before->second += place->second;
    free_.erase(place);
  }
}

std::int64_t Extents::held_bytes() const {
  const std::lock_guard lock(mutex_);
  return held_bytes_;
}

std::int64_t Extents::peak_bytes() const {
  const std::lock_guard lock(mutex_);
  return peak_bytes_;
}

}  // namespace lowtide::tier
