// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Keeps policies to what a run may do to make room. Called by sessions, and by reports of them.
#pragma once

#include <optional>

#include "lowtide/policy.h"

namespace lowtide::policy {

struct AllowedMeans {
  bool recompute = true;
  bool move = true;

  friend bool operator==(const AllowedMeans&, const AllowedMeans&) = default;
};

// The options under which the policy's plans do only what is allowed; nothing: they always do more.
std::optional<PolicyOptions> options_within(const PolicyInfo& info, AllowedMeans allowed);

}  // namespace lowtide::policy
