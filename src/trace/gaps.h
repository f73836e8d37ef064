// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "lowtide/trace.h"
#include "trace/lifetimes.h"

namespace lowtide::trace {

// A stretch of ticks during which a value exists and nothing uses it: it is used at `from` (its
// birth, or an op that reads it; -1 for the birth of a source) and next at `to` (an op that reads
// it, or the last tick of its life), and at no tick between.
struct Gap {
  ValueId value;
  Tick from = 0;
  Tick to = 0;

  // Ticks strictly between both; at least one.
  Tick idle_ticks() const { return to - from - 1; }
  friend bool operator==(const Gap&, const Gap&) = default;
};

// All gaps with at least one idle tick, ordered by value, then by time. A value that nothing reads
// after `from` and that dies at `to` need not come back: `to` is then Lifetime::dies and no read;
// if it outlives the step, `to` is the end tick and it must be there.
std::vector<Gap> gaps(const Trace& trace, const Lifetimes& lifetimes);

}  // namespace lowtide::trace
