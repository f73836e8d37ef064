// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "lowtide/trace.h"
#include "plan/replay_reach.h"
#include "trace/lifetimes.h"

namespace lowtide::policy {

// A value that the forward pass makes and that may be dropped, as policies that drop it between the
// passes see it.
struct ForwardValue {
  ValueId value;
  // The last tick of the forward pass that makes or reads it.
  trace::Tick last_forward = 0;
  // The first tick after the pass that reads it; one beyond the end of the step if none does.
  trace::Tick first_later = 0;

  // Whether anything is there to drop once the forward pass is through with it.
  bool lives_on(const trace::Lifetimes& lifetimes) const {
    return lifetimes.of(value).dies > last_forward;
  }
};

// The tick after the last op of the forward pass; 0 if there is none.
trace::Tick forward_end(const Trace& trace);

// In order of birth.
std::vector<ForwardValue> forward_values(const Trace& trace, const plan::ReplayReach& reach);

}  // namespace lowtide::policy
