// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lowtide/policy.h"

namespace lowtide::support {

// A policy with options, as the suites that go over all policies take it.
struct PolicyCase {
  // Letters, digits and underscores: "dtr_score_exact".
  std::string name;
  std::string policy;
  PolicyOptions options;

  std::unique_ptr<Policy> make() const { return policy_named(policy).make(options); }
};

// Every row of the catalogue with its default options (a search with fewer tries), then the
// variants of policy_cases.cpp. A new row needs no entry here.
std::vector<PolicyCase> policy_cases();

}  // namespace lowtide::support
