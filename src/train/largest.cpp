// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/largest.h"

#include <algorithm>

namespace lowtide::train {

std::int64_t largest_that_fits(std::int64_t first, std::int64_t most,
                               const std::function<bool(std::int64_t)>& fits, double slack) {
  std::int64_t good = 0;
  std::int64_t bad = most + 1;
  for (std::int64_t next = std::min(first, most); good < most && bad > most;
       next = next > most / 2 ? most : 2 * next) {
    (fits(next) ? good : bad) = next;
  }
  const auto is_near = [&] {
    return static_cast<double>(bad - good) <= std::max(1.0, slack * static_cast<double>(good));
  };
  while (!is_near()) {
    const std::int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace lowtide::train
