// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "lowtide/plan.h"
#include "policy/fetch_ahead.h"
#include "policy/gap_writer.h"
#include "policy/hybrid/step_clock.h"
#include "trace/lifetimes.h"

namespace lowtide::policy {

// A value is not used between two ticks: after = -1 for a source that nothing has used yet. `need`
// after the end of the step: it is not used again.
struct IdleGap {
  ValueId value;
  trace::Tick after = 0;
  trace::Tick need = 0;
};

// Gaps that are decided together: what outlives the step must end where it starts.
struct GapGroup {
  std::vector<IdleGap> gaps;
  // It is what a storage spends in this and the next step outside of its uses: the first gap begins
  // before the step, and the last one ends after it. Both may be the same.
  bool goes_round = false;
};

// All gaps of the storages that may move (by storage), also those without a tick between: one group
// for each of them, but what a storage spends in the steps before and after this one is one.
std::vector<GapGroup> idle_gaps(const Trace& trace, const trace::Lifetimes& lifetimes,
                                const std::vector<bool>& may_move);

// How long nothing uses it.
double idle_seconds(const GapGroup& group, const trace::Lifetimes& lifetimes,
                    const StepClock& clock);

// The shortest first; equally long ones stay as they are.
void sort_by_idle_seconds(std::vector<GapGroup>& groups, const trace::Lifetimes& lifetimes,
                          const StepClock& clock);

// Where its values are if they stay on the device meanwhile.
std::vector<Presence> if_it_stays(const GapGroup& group, const trace::Lifetimes& lifetimes);

// The value spends the gap in the tier, and starts to come back at a tick.
void leave(const Trace& trace, const IdleGap& gap, TierId tier, trace::Tick issue,
           GapDecisions& decisions);
// The group's values spend its gaps in the tier, and come back when they are needed.
void leave(const Trace& trace, const GapGroup& group, TierId tier, GapDecisions& decisions);

}  // namespace lowtide::policy
