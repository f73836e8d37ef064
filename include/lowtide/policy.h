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

/// What it takes to make a policy's plans, or to carry them out.
enum class Need : std::uint8_t {
  kReplays,          ///< ops that are carried out again
  kHostMemory,       ///< the first tier, where values are moved to
  kDisk,             ///< a tier behind host memory
  kSolver,           ///< HiGHS, while planning
  kCodecs,           ///< storages that name how they can be encoded
  kImplementations,  ///< ops with several implementations, one of which the plan chooses
  kSplit,            ///< ops carried out in sub-batches
  kOrder,            ///< another order of the ops
  kPlacement,        ///< addresses or pools of its choice
};
std::string_view to_string(Need need);

/// Whether the engine carries out what needs this; else only the simulator does.
bool engine_has(Need need);

struct PolicyNeed {
  Need need = Need::kReplays;
  /// With which option, or for which traces; empty: always.
  std::string when{};
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
  /// What it does well and badly on recorded steps, and why: docs/policies.md has the figures.
  std::string does_well{};
  std::string does_badly{};
  std::string why{};
  std::vector<PolicyNeed> needs{};
  /// Whether the engine carries its plans out, where no need that has a condition asks for more;
  /// else only the simulator does. The catalogue derives it from the needs.
  bool executable = true;
  std::vector<OptionInfo> options;
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
