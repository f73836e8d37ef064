// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "session/policies.h"

#include <optional>

#include "base/check.h"

namespace lowtide::session {

policy::AllowedMeans allowed_by(Means means) {
  return {.recompute = means != Means::kHost, .move = means != Means::kRecompute};
}

std::unique_ptr<Policy> policy_within(const std::string& name, Means means, PolicyOptions options) {
  const PolicyInfo& info = policy_named(name);
  LT_REQUIRE(info.executable, "plans of ", info.name, " can be simulated but not carried out");
  const char* const forbids = means == Means::kHost
                                  ? " recomputes, which Means::kHost does not allow: "
                                  : " moves values, which Means::kRecompute does not allow: ";
  const std::optional<PolicyOptions> within = policy::options_within(info, allowed_by(means));
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
