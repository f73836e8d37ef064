// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/known_names.h"

#include <optional>

#include "base/check.h"
#include "plan/schedule.h"

namespace lowtide::sim {
namespace {

void require_none(const std::optional<Violation>& fault) {
  LT_REQUIRE(!fault, fault->message, "; run lowtide check for the full list");
}

}  // namespace

const Plan& with_known_names(const Problem& problem, const Plan& plan) {
  for (const Action& action : plan.actions) require_none(plan::check_names(problem, action));
  for (const StartsIn& start : plan.starts) require_none(plan::check_names(problem, start));
  return plan;
}

}  // namespace lowtide::sim
