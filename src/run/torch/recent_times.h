// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>

namespace lowtide::run {

// The last few times that something took which takes differently long each time. Not thread-safe.
class RecentTimes {
 public:
  void add(double seconds);
  bool empty() const { return count_ == 0; }
  // What to expect of many: the mean, without the longest of several. The first run of a kernel
  // also sets it up, and any run may be disturbed.
  double typical() const;

 private:
  std::array<float, 9> last_{};
  std::size_t count_ = 0;
  std::size_t next_ = 0;
};

}  // namespace lowtide::run
