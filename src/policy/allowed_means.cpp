// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/allowed_means.h"

namespace lowtide::policy {

std::optional<PolicyOptions> options_within(const PolicyInfo& info, AllowedMeans allowed) {
  if ((allowed.recompute && allowed.move) || info.mechanisms == "none") return PolicyOptions{};
  if (info.mechanisms == (allowed.move ? "swap" : "recompute")) return PolicyOptions{};
  return allowed.move ? info.only_swaps : info.only_recomputes;
}

}  // namespace lowtide::policy
