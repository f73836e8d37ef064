// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/plan.h"

namespace lowtide::oracle {

// The best that replays alone can do, found by trying everything. It shares nothing with src/ but
// the types of the public headers.
//
// The model. A state is a tick and the set of values on the device in its prelude. Bytes are those
// of the storages, not rounded; a moment is within the budget if the sizes of all values of the
// set, plus what the moment adds, are. Moves from a state:
//   drop     any value but a pinned one in its natural life: free
//   replay   any earlier op that may be replayed, whose inputs (side effects apart) are there and
//            of whose results (side effects apart) one is not: costs its seconds; the moment adds
//            all its results and side effects once more, and its workspace; all results stay
//   go on    the op of this tick, if all it reads is there: free; the moment adds results and
//            workspace. For each value that it overwrites there are two ways: the result takes its
//            bytes, or it is kept beside. What dies for another reason stays; dropping it is free.
// A step has gone through once it is at its end with all values that outlive it. Values from which
// nothing that is still needed can be computed are dropped at once, which is no loss.
//
// Keeping a value past its natural death becomes a Hold, so every path is a plan.
// Limits: no tiers, codecs, implementations or orders; traces of at most 30 values.
struct Optimum {
  double replay_seconds = 0;
  std::int64_t peak_bytes = 0;
  Plan plan;
};

// The fewest seconds of replays within the budget, and a plan that takes them; nothing if no plan
// keeps the budget.
std::optional<Optimum> cheapest_replays(const Trace& trace, std::int64_t budget_bytes);

// The smallest budget for which there is a plan at all.
std::int64_t smallest_budget(const Trace& trace);

}  // namespace lowtide::oracle
