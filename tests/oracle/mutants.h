// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/plan.h"

namespace lowtide::oracle {

// A plan that differs from another in one respect.
struct Mutant {
  // How it was made: "without action 3".
  std::string how;
  Plan plan;
};

// Systematic changes: each action left out, doubled in place, doubled at the end, swapped with the
// next; each position in it one op earlier and later; drops on the other side; each start left out.
std::vector<Mutant> broken(const Plan& plan);

// Two neighbouring ops swapped by an Order, for each pair. Requires: the plan has no Order.
std::vector<Mutant> reordered(const Trace& trace, const Plan& plan);

// `count` copies, each with one or two further actions that name existing values, ops, tiers,
// codecs and implementations at random places: every kind of action, and pairs of them that belong
// together (a move and a fetch, an encode and a decode, places side by side).
std::vector<Mutant> embellished(const Problem& problem, const Plan& plan, std::uint64_t seed,
                                int count);

}  // namespace lowtide::oracle
