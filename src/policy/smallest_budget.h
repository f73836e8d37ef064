// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>

namespace lowtide::policy {

// Looks for the smallest budget in (fails_at, works_at] at which `works` says yes, by halving the
// interval until it is narrower than a hundredth of works_at. What it returns has been tried. Plans
// are not monotone in the budget, so a smaller one that works may exist.
// Requires: works(works_at).
std::int64_t smallest_budget(std::int64_t fails_at, std::int64_t works_at,
                             const std::function<bool(std::int64_t)>& works);

}  // namespace lowtide::policy
