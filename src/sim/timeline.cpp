// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <numeric>
#include <string_view>

#include "lowtide/simulate.h"

namespace lowtide {

std::string_view to_string(StallCause cause) {
  switch (cause) {
    case StallCause::kFetch:
      return "fetch";
    case StallCause::kRoom:
      return "room";
    case StallCause::kHost:
      return "host";
    case StallCause::kDrain:
      return "drain";
    case StallCause::kCopy:
      return "copy";
  }
  return "unknown";
}

std::int64_t TickUse::total_bytes() const {
  return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

double Timeline::total_stall_seconds() const {
  return std::accumulate(stall_seconds.begin(), stall_seconds.end(), 0.0);
}

}  // namespace lowtide
