// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "lowtide/trace.h"
#include "plan/source_holds.h"
#include "trace/lifetimes.h"

namespace lowtide::plan {

// Until when a value could be computed again if it and everything that may be dropped were dropped.
// A replay reaches back to sources and to values that may not be dropped, and those are gone once
// an op has overwritten them or the program has released them.
class ReplayReach {
 public:
  // `holds` are sources that will be held past their natural death.
  ReplayReach(const Trace& trace, const trace::Lifetimes& lifetimes,
              const std::vector<ExtendedLife>& holds);
  // The same for a planner that replays some ops only; `replayed` says by op whether it does.
  // Requires: those are replayable.
  ReplayReach(const Trace& trace, const trace::Lifetimes& lifetimes,
              const std::vector<ExtendedLife>& holds, const std::vector<bool>& replayed);

  // The last tick before whose op the value can be computed again; -1 if never.
  trace::Tick until(ValueId value) const { return until_[value.slot()]; }

  // Whether the value may be dropped at any time after it was made: whoever reads it later, the end
  // of the step included, can have it computed again.
  bool can_drop(ValueId value) const { return droppable_[value.slot()]; }

 private:
  std::vector<trace::Tick> until_;
  std::vector<bool> droppable_;
};

}  // namespace lowtide::plan
