// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "base/random.h"
#include "policy/hybrid/kept_spans.h"
#include "policy/hybrid/tide_swaps.h"

namespace lowtide::policy {

// Wishes for other swaps than those of a plan, close to them: some of what it replays is swapped
// sooner, some of what it swaps later, and the link may carry a little more or less. What its
// replays read has to be back by then.
SwapWishes vary_wishes(const TideStep& step, const KeptSpans& spans, SwapWishes wishes,
                       base::Random& random);

}  // namespace lowtide::policy
