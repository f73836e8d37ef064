// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "lowtide/policy.h"
#include "plan/transform.h"

namespace lowtide::policy {

// A step whose convolutions were split into sub-batches, and what `modnn` answers to it.
struct SplitStep {
  plan::Transformed split;
  PlanOutcome outcome;
};

// The other half of moDNN: it may also carry convolutions out in sub-batches, which divides their
// workspace and takes a launch for each. A plan cannot say that of a trace as it is, so this makes
// another step and a plan for that; ops are split in up to `most_parts`, where the step as it is
// holds more than the budget. The quickest way that fits, by the simulator; the step as it is
// where splitting does not help. Throws InvalidInput for options that `modnn` does not know.
// Requires: most_parts >= 1.
SplitStep plan_modnn_split(const Problem& problem, const PolicyOptions& options,
                           std::int32_t most_parts);

}  // namespace lowtide::policy
