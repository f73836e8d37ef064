// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "lowtide/trace.h"
#include "plan/replay_reach.h"
#include "trace/lifetimes.h"

namespace lowtide::policy {

// The forward pass as planners see it that keep some of its values and replay the rest.
struct ForwardPass {
  ForwardPass(const Trace& trace, const trace::Lifetimes& lifetimes,
              const plan::ReplayReach& reach);

  // Values made there that may be dropped, in order of birth.
  std::vector<ValueId> values;
  // By position in `values`; see ForwardValue.
  std::vector<trace::Tick> last_forward;
  std::vector<trace::Tick> first_later;
  // Ticks after which the pass may be cut, in order: those that at most k of the values cross, for
  // the smallest k that gives enough of them, and none that a later op of the pass overwrites:
  // torch cannot keep what it overwrites in place, so it would have to be computed anew for each
  // replay.
  std::vector<trace::Tick> candidates;
  // The tick after the last forward op.
  trace::Tick end = 0;

 private:
  void find_candidates(const trace::Lifetimes& lifetimes);
};

}  // namespace lowtide::policy
