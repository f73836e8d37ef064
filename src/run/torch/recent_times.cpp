// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/recent_times.h"

#include <algorithm>

namespace lowtide::run {

void RecentTimes::add(double seconds) {
  last_[next_] = static_cast<float>(seconds);
  next_ = (next_ + 1) % last_.size();
  count_ = std::min(count_ + 1, last_.size());
}

double RecentTimes::typical() const {
  double sum = 0;
  double longest = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    sum += last_[i];
    longest = std::max<double>(longest, last_[i]);
  }
  if (count_ < 2) return sum;
  return (sum - longest) / static_cast<double>(count_ - 1);
}

}  // namespace lowtide::run
