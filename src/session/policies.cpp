// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "session/policies.h"

#include <optional>

#include "base/check.h"

namespace lowtide::session {
namespace {

// The options under which the policy's plans do nothing that the means forbid; none: it always may.
std::optional<PolicyOptions> options_within(const PolicyInfo& info, Means means) {
  if (means == Means::kMixed || info.mechanisms == "none") return PolicyOptions{};
  const bool may_only_move = means == Means::kHost;
  if (info.mechanisms == (may_only_move ? "swap" : "recompute")) return PolicyOptions{};
  return may_only_move ? info.only_swaps : info.only_recomputes;
}

}  // namespace

std::unique_ptr<Policy> policy_within(const std::string& name, Means means, PolicyOptions options) {
  const PolicyInfo& info = policy_named(name);
  LT_REQUIRE(info.executable, "plans of ", info.name, " can be simulated but not carried out");
  const char* const forbids = means == Means::kHost
                                  ? " recomputes, which Means::kHost does not allow: "
                                  : " moves values, which Means::kRecompute does not allow: ";
  const std::optional<PolicyOptions> within = options_within(info, means);
  LT_REQUIRE(within, info.name, forbids, "use Means::kMixed");
  for (const auto& [option, value] : *within) {
    const std::string& given = options.try_emplace(option, value).first->second;
    LT_REQUIRE(given == value, info.name, " with ", option, "=", given, forbids,
               "leave that option out, or use Means::kMixed");
  }
  // The online rule does better with a plan that all but fits than with one that only copies.
  if (info.name == "tide") options.try_emplace("last_resort", "no");
  return info.make(options);
}

}  // namespace lowtide::session
