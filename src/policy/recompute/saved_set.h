// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "cost/op_cost.h"
#include "lowtide/trace.h"
#include "policy/recompute/forward_values.h"

namespace lowtide::policy {

// Which values of the forward pass are kept for the backward pass, when everything else that it
// needs is computed again from them: a cheapest cut of the graph of the forward pass between what
// is there anyway and what the backward pass reads.
struct SavedSet {
  // Positions in the list of forward values, in order.
  std::vector<std::int32_t> saved;
  // Those that the backward pass, or replays for it, compute again.
  std::vector<std::int32_t> recomputed;
  std::int64_t saved_bytes = 0;
};

// The last tick after the forward pass that needs the value itself; -1 if none does.
trace::Tick needed_until(const Trace& trace, const ForwardValue& value);

// How much dearer it is to keep a value for each op between it and the backward pass: of two cuts
// of one size the later one has fewer replays.
inline constexpr double kPriceOfDistance = 1.1;

// `may_recompute` is by position in `values`. Values that are not in the list are there anyway.
SavedSet find_saved_set(const Trace& trace, const cost::CostTable& costs,
                        const std::vector<ForwardValue>& values,
                        const std::vector<bool>& may_recompute,
                        double price_of_distance = kPriceOfDistance);

}  // namespace lowtide::policy
