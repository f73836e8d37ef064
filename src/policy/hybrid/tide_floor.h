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
  PolicyOptions options{};
  bool swaps = false;
  bool replays = false;
  // Has options `swap` and `recompute` that take one of the two from it.
  bool can_be_limited = false;
  // Copies that show, and many of them if it must be: wanted only where nothing else fits, and not
  // by everybody.
  bool is_last_resort = false;
  // Takes long to plan, or to refuse: left out unless all are asked for.
  bool is_slow = false;
};

// Every executable policy but tide, in the order in which they are asked.
const std::vector<FloorPolicy>& floor_policies();

enum class Floor : std::uint8_t { kNone, kQuick, kAll };

// What plans may do to save memory. Who may not swap is asked for a machine without tiers.
struct Allowed {
  bool swap = true;
  bool recompute = true;
};

// Those that do no more than what is allowed.
std::vector<std::unique_ptr<Policy>> make_floor(Floor floor, const Allowed& allowed,
                                                bool has_last_resort);

// Who is not in a floor with last resort, but for checkmate, which can take minutes to refuse a
// step of forty ops: for when all in the floor have refused.
std::vector<std::unique_ptr<Policy>> make_last_resorts(Floor floor, const Allowed& allowed);

}  // namespace lowtide::policy
