// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/smallest_budget.h"

#include <algorithm>

namespace lowtide::policy {

std::int64_t smallest_budget(std::int64_t fails_at, std::int64_t works_at,
                             const std::function<bool(std::int64_t)>& works) {
  const std::int64_t narrow = std::max<std::int64_t>(1, works_at / 100);
  while (works_at - fails_at > narrow) {
    const std::int64_t middle = fails_at + (works_at - fails_at) / 2;
    (works(middle) ? works_at : fails_at) = middle;
  }
  return works_at;
}

}  // namespace lowtide::policy
