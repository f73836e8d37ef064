// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cost/op_cost.h"
#include "lowtide/plan.h"
#include "policy/gap_writer.h"
#include "trace/lifetimes.h"

// What the forward pass leaves for the backward pass, and how it moves to host memory and back.

namespace lowtide::policy {

// A value that lies idle between the two passes.
struct SavedValue {
  ValueId value;
  // The last op of the forward pass that makes or reads it, and the first of the backward pass that
  // reads it; at least one tick lies between.
  trace::Tick last_forward = -1;
  trace::Tick first_backward = -1;
  bool is_read_forward = false;
};

std::optional<SavedValue> saved_value(const Trace& trace, const trace::Lifetimes& lifetimes,
                                      ValueId value);

// The first tick of the backward pass; the end of the step if there is none.
trace::Tick backward_start(const Trace& trace, const trace::Lifetimes& lifetimes);

// Walks through a step that holds `tick_bytes` and, wherever that is more than the budget, has the
// value leave that was used longest ago, until it is needed again; a copy begins right after the
// last use. Nothing moves while the step fits. `by_last_forward` is in that order. Takes what
// leaves off `tick_bytes`, which may still be above the budget in the end.
std::vector<SwapDecision> move_least_recently_used(const std::vector<SavedValue>& by_last_forward,
                                                   const cost::CostTable& costs,
                                                   std::int64_t budget_bytes,
                                                   std::vector<std::int64_t>& tick_bytes);

// Has a copy back begin in tick `wanted`, or as soon after it as `tick_bytes` leave room for it
// until it is needed.
void fetch_early(SwapDecision& swap, trace::Tick wanted, std::int64_t bytes,
                 std::int64_t budget_bytes, std::vector<std::int64_t>& tick_bytes);

}  // namespace lowtide::policy
