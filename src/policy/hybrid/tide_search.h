// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/plan.h"

namespace lowtide::policy {

struct TideOptions {
  // How many times the step is run through for a step of a thousand ops; a longer step gets fewer,
  // a shorter one more.
  double tries = 360;
  std::uint64_t seed = 1;
  bool may_swap = true;
  bool may_recompute = true;
};

// The best plan that the search finds for the budget; nothing if it finds none. One try takes time
// in proportion to the ops, and all tries together about the same for steps up to 10^5 ops; so does
// the polish after them. `other` is a plan of another policy that may be polished too, or null.
std::optional<Plan> search_tide(const Problem& problem, const TideOptions& options,
                                const Plan* other);

// Whether it finds any.
bool tide_fits(const Problem& problem, const TideOptions& options);

}  // namespace lowtide::policy
