// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "lowtide/policy.h"

namespace lowtide::policy {

// A policy that plans beside tide, so that tide is never slower than it. The catalogue cannot be
// asked, since tide is in it; a test holds the two against each other.
struct FloorPolicy {
  std::string_view name;
  std::unique_ptr<Policy> (*make)(const PolicyOptions& options);
  bool swaps = false;
  bool replays = false;
  // Has options `swap` and `recompute` that take one of the two from it.
  bool can_be_limited = false;
  // Copies that show and nothing else: wanted only where nothing else fits, and not by everybody.
  bool is_last_resort = false;
  // Takes long to plan: left out unless all are asked for.
  bool is_slow = false;
};

// Every executable policy but tide.
const std::vector<FloorPolicy>& floor_policies();

enum class Floor : std::uint8_t { kNone, kQuick, kAll };

// Those that do no more than what is allowed.
std::vector<std::unique_ptr<Policy>> make_floor(Floor floor, bool may_swap, bool may_recompute,
                                                bool has_last_resort);

}  // namespace lowtide::policy
