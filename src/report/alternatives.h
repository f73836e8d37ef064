// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/study.h"

namespace lowtide::report {

// What a step would come to with another budget, or another policy.
struct Alternative {
  std::string policy;
  std::int64_t budget_bytes = 0;
  // If set, the figures below mean nothing.
  std::optional<Refusal> refusal;
  double seconds = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t moved_bytes = 0;
  double recompute_seconds = 0;
  double stall_seconds = 0;
  double plan_seconds = 0;
  // It is the study's own.
  bool is_shown = false;
};

Alternative as_alternative(const SimulatedStep& step);

// Budgets from the plain peak down to where no plan fits, in order of bytes, the study's own among
// them. Planned by a quick form of the predicting policy, in about so many seconds altogether: then
// there are fewer.
std::vector<Alternative> price_budgets(const Study& study, double seconds);

// What the quick policies of the catalogue make of the study's budget, the quickest step first and
// refusals last; those whose turn does not come within so many seconds are left out. Empty without
// a budget.
std::vector<Alternative> compare_policies(const Study& study, double seconds);

}  // namespace lowtide::report
