// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/step.h"

// Policies side by side under several budgets.

namespace lowtide::cli {

// What one policy makes of one budget.
struct ComparedPlan {
  std::string policy;
  // As on the command line ("60%"), and what that is.
  std::string budget;
  std::int64_t budget_bytes = 0;
  // If set, the figures below mean nothing, but for how long it took to find out.
  std::optional<Refusal> refusal{};
  // The quickest under this budget; of equally quick ones that with the lowest peak.
  bool is_best = false;
  double step_seconds = 0;
  double overhead = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t moved_bytes = 0;
  double recompute_seconds = 0;
  double plan_seconds = 0;
  // It would have searched on, but for --think or Ctrl-C.
  bool was_stopped = false;
  // What `lowtide plan --json` would print.
  nlohmann::json summary{};
};

// All policies under the first budget, then under the next; under each the quickest plan first,
// refusals last. Says on `err` what it is at if someone watches. Ctrl-C ends the search it is at,
// and what comes after that is left out (StopSignal::came() tells). Throws UsageError for a bad
// budget.
std::vector<ComparedPlan> compare(const PlainStep& step, const std::vector<Planner>& planners,
                                  const std::vector<std::string>& budgets, Console& console);

// Sorts the plans of each budget and marks the first of them. Requires: plans for the same budget
// stand together.
void rank(std::vector<ComparedPlan>& plans);

// How long the policy took: "4.1 s", or "4.1 s (stopped)" if its search was ended.
std::string planned_in(const ComparedPlan& plan);

std::string comparison_text(const PlainStep& step, const std::vector<ComparedPlan>& plans,
                            const Style& style);
nlohmann::json comparison_json(const PlainStep& step, const std::vector<ComparedPlan>& plans);

}  // namespace lowtide::cli
