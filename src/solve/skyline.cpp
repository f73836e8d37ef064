// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/skyline.h"

#include <algorithm>

#include "base/check.h"

namespace lowtide::solve {

Skyline::Skyline(std::size_t size) {
  while (leaves_ < size) leaves_ *= 2;
  floor_.assign(2 * leaves_, 0);
  top_.assign(2 * leaves_, 0);
}

std::int64_t Skyline::highest(std::size_t first, std::size_t last) const {
  LT_CHECK(first <= last && last < leaves_, "a box from ", first, " to ", last);
  std::int64_t found = 0;
  // The nodes that make up the range, from the leaves upwards.
  for (std::size_t low = first + leaves_, high = last + leaves_ + 1; low < high;
       low /= 2, high /= 2) {
    if (low % 2 == 1) found = std::max(found, top_[low++]);
    if (high % 2 == 1) found = std::max(found, top_[--high]);
  }
  // What stands above these nodes covers the ends of the range, whichever they are.
  for (std::size_t low = first + leaves_, high = last + leaves_; low > 0; low /= 2, high /= 2) {
    found = std::max({found, floor_[low], floor_[high]});
  }
  return found;
}

void Skyline::raise(std::size_t first, std::size_t last, std::int64_t height) {
  LT_CHECK(first <= last && last < leaves_, "a box from ", first, " to ", last);
  const auto raise_node = [&](std::size_t node) {
    floor_[node] = std::max(floor_[node], height);
    top_[node] = std::max(top_[node], height);
  };
  for (std::size_t low = first + leaves_, high = last + leaves_ + 1; low < high;
       low /= 2, high /= 2) {
    if (low % 2 == 1) raise_node(low++);
    if (high % 2 == 1) raise_node(--high);
  }
  for (std::size_t low = (first + leaves_) / 2, high = (last + leaves_) / 2; low > 0;
       low /= 2, high /= 2) {
    top_[low] = std::max(top_[low], height);
    top_[high] = std::max(top_[high], height);
  }
}

}  // namespace lowtide::solve
