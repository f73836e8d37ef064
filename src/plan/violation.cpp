// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <array>

#include "lowtide/plan.h"

namespace lowtide {

std::string_view to_string(Violation::Kind kind) {
  static constexpr std::array<std::string_view, 18> kNames{
      "wrong_trace",    "unknown_name",    "bad_order",
      "not_resident",   "encoded",         "stale_source",
      "not_replayable", "already_present", "not_present",
      "not_in_tier",    "pinned",          "lost",
      "not_cyclic",     "over_budget",     "over_tier_capacity",
      "overlap",        "bad_position",    "lossy"};
  static_assert(kNames.size() == static_cast<std::size_t>(Violation::Kind::kLossy) + 1);
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace lowtide
