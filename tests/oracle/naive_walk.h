// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowtide/plan.h"

namespace lowtide::oracle {

// What naive_walk found.
struct NaiveVerdict {
  // The first fault; empty if there is none.
  std::string fault;
  // Only meaningful without a fault other than too many bytes.
  std::int64_t peak_bytes = 0;
  std::vector<std::int64_t> tier_peak_bytes;

  bool accepted() const { return fault.empty(); }
};

// A second implementation of docs/plan-format.md, written from that text and the public headers
// alone, to hold verify() against. It is slow and obvious on purpose: a map says where each value
// is, bytes are added up anew at every moment, natural lives and holds are searched for by going
// over all ops and actions, and the first fault ends the walk.
//
// What the text leaves open is taken as follows. `from` op 0 means the first tick, also under an
// order. Under an order a storage is released once all ops that name it have run, and the op after
// which the program released it. Values without bytes never overlap. What an op overwrites is at
// its place until all its other results are at theirs.
//
// Requires: the plan's digest is that of the trace.
NaiveVerdict naive_walk(const Problem& problem, const Plan& plan);

}  // namespace lowtide::oracle
