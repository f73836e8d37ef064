// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "plan/findings.h"

namespace lowtide::plan {

// What a walk through a plan found besides violations.
struct WalkResult {
  std::int64_t peak_bytes = 0;
  OpId peak_op;
  std::vector<std::int64_t> tier_peak_bytes;
  std::vector<OpId> tier_peak_op;
};

// Carries the plan out tick by tick as docs/plan-format.md says, on books instead of memory, and
// reports what cannot be done. Goes on after a violation as if the plan had meant well: results of
// an op appear even if it could not read its inputs, so that one fault is one violation. Budget and
// capacities are for the caller to compare.
// Requires: a plan that went through sift(), whose Order is good.
WalkResult walk(const Problem& problem, const Plan& plan, Findings& findings);

}  // namespace lowtide::plan
