// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lowtide/plan.h"

namespace lowtide {

/// No plan of this policy keeps the budget.
struct Refusal {
  std::string reason;
  /// A budget at which the same policy with the same options does make a plan. It is the smallest
  /// one that the policy knows of.
  std::int64_t smallest_budget_bytes = 0;
};

using PlanOutcome = std::variant<Plan, Refusal>;

/// A planner: a pure function of the problem and its options. No clock, no environment; random
/// choices come from a seed among the options.
class Policy {
 public:
  virtual ~Policy() = default;
  virtual PlanOutcome plan(const Problem& problem) const = 0;
};

using PolicyOptions = std::map<std::string, std::string>;

/// One option of a policy, as the command line and the docs show it.
struct OptionInfo {
  std::string name;
  std::string default_value;
  std::string help;
};

/// One row of the catalogue.
struct PolicyInfo {
  std::string name;
  /// Who published it, where and when; empty for our own and for baselines.
  std::string paper;
  /// How it saves memory: "recompute", "swap", "recompute+swap", "none"; "place" for one
  /// that saves none but finds addresses.
  std::string mechanisms;
  std::string summary;
  std::vector<OptionInfo> options;
  /// Whether the runtime can carry its plans out; else only the simulator can.
  bool executable = true;
  /// Options with which a policy that recomputes and swaps only does one of the two; none: it
  /// cannot be kept from the other.
  std::optional<PolicyOptions> only_swaps{};
  std::optional<PolicyOptions> only_recomputes{};
  /// Throws InvalidInput for an option that is not in the list or has a bad value.
  std::unique_ptr<Policy> (*make)(const PolicyOptions& options);
};

/// Every policy, in the order in which listings show them.
const std::vector<PolicyInfo>& catalogue();

/// Throws InvalidInput with the known names.
const PolicyInfo& policy_named(std::string_view name);

}  // namespace lowtide
