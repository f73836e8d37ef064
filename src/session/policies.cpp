// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "session/policies.h"

#include "base/check.h"

namespace lowtide::session {

std::unique_ptr<Policy> policy_within(const std::string& name, Means means, PolicyOptions options) {
  const PolicyInfo& info = policy_named(name);
  LT_REQUIRE(info.executable, "plans of ", info.name, " can be simulated but not carried out");
  if (info.name == "capuchin" || info.name == "tide" || info.name == "superneurons") {
    const char* const moves = info.name == "superneurons" ? "offload" : "swap";
    if (means == Means::kRecompute) options.try_emplace(moves, "no");
    if (means == Means::kHost) options.try_emplace("recompute", "no");
    // The online rule does better with a plan that all but fits than with one that only copies.
    if (info.name == "tide") options.try_emplace("last_resort", "no");
  } else if (means == Means::kHost) {
    LT_REQUIRE(info.mechanisms != "recompute", info.name,
               " recomputes, which Means::kHost does not allow: use Means::kMixed");
  } else if (means == Means::kRecompute) {
    LT_REQUIRE(info.mechanisms != "swap", info.name,
               " moves values, which Means::kRecompute does not allow: use Means::kMixed");
  }
  return info.make(options);
}

}  // namespace lowtide::session
