// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>

#include "lowtide/policy.h"

namespace lowtide::policy {

// Looks for the smallest budget in (fails_at, works_at] at which `works` says yes, by halving the
// interval until it is narrower than a hundredth of works_at. What it returns has been tried. Plans
// are not monotone in the budget, so a smaller one that works may exist.
// Requires: works(works_at).
std::int64_t smallest_budget(std::int64_t fails_at, std::int64_t works_at,
                             const std::function<bool(std::int64_t)>& works);

// For policies whose plans do not depend on the budget but for small things, such as which sources
// are held: the first budget that is granted when each try asks for what the refusal before named.
// Requires: refusals of `plan` name more than they were asked for, and a peak that was reached, so
// that it ends at the plain peak at the latest.
std::int64_t first_granted_budget(const Problem& problem, std::int64_t first_try_bytes,
                                  const std::function<PlanOutcome(const Problem&)>& plan);

// Plans; a refusal's budget is raised until planning works there. For policies whose answers depend
// on the budget in other ways than by its size, such as by the sources that are held: a peak
// reached under one budget need not be reached under a budget of that size. Requires: each refusal
// asks for more than the budget, and the plain peak is not refused.
PlanOutcome plan_or_grant(const Problem& problem,
                          const std::function<PlanOutcome(const Problem&)>& plan);

}  // namespace lowtide::policy
