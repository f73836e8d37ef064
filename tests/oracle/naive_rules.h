// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "lowtide/plan.h"
#include "natural_lives.h"

namespace lowtide::oracle {

// The rules of naive_walk that need no walk. Each throws InvalidInput for the first fault.

// Every op, value, storage, tier, codec and implementation exists, positions are of the kind that
// the action takes, nothing is stated twice that may be stated once, nothing is lossy.
void check_words(const Problem& problem, const Plan& plan);

// The order in which the ops run under the plan, as indices; it keeps all dependences.
std::vector<int> checked_order(const Trace& trace, const Plan& plan);

// The last tick of the hold on the value that covers `tick`, overlapping ones taken as one; -1
// without one.
int held_until(const Plan& plan, const NaturalLives& lives, ValueId value, int tick);

// Whether a run of the same prelude as the run at `index` of the plan's actions, but after it,
// reads the value.
bool is_read_by_later_run(const Trace& trace, const Plan& plan, ValueId value, std::size_t index);

// What the plan chooses for the op; null for the traced implementation.
const Implementation* chosen(const Trace& trace, const Plan& plan, OpId op);

}  // namespace lowtide::oracle
