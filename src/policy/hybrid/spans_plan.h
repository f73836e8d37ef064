// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "lowtide/plan.h"
#include "policy/hybrid/kept_spans.h"

namespace lowtide::policy {

// What a plan does that keeps values as the spans say.
// Requires: spans.is_possible().
std::vector<Action> actions_of(const TideStep& step, const KeptSpans& spans);

// Has the spans keep values as a plan does, as closely as they can: an op that the plan replays
// twice in a tick is replayed once. The spans' away values must be those that the plan moves.
// Requires: the spans are those of the plain step; the plan only drops, holds, replays and moves,
// and verify() accepts it.
void follow_plan(const TideStep& step, const Plan& plan, KeptSpans& spans);

// Has the spans keep values as others of the same step do, but for those that either has away.
// Requires: the spans are those of the plain step.
void follow_spans(const TideStep& step, const KeptSpans& others, KeptSpans& spans);

}  // namespace lowtide::policy
