// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cost/op_cost.h"
#include "lowtide/plan.h"
#include "policy/gap_writer.h"
#include "policy/hybrid/step_clock.h"
#include "solve/range_max.h"

namespace lowtide::policy {

// A value on the device from one tick to another, both included; not at all if first > last.
struct Presence {
  ValueId value;
  trace::Tick first = 0;
  trace::Tick last = 0;
};

// Whether there is room for all of these; if so it is taken.
using TakeRoom = std::function<bool(std::span<const Presence>)>;

// Room below a budget, for planners whose decisions end in bytes by tick.
class RoomBelow {
 public:
  // `tick_bytes`: what is there without anything that asks for room.
  RoomBelow(std::int64_t budget_bytes, const std::vector<std::int64_t>& tick_bytes,
            const cost::CostTable& costs)
      : budget_bytes_(budget_bytes), profile_(tick_bytes), costs_(costs) {}

  bool operator()(std::span<const Presence> wanted);

 private:
  void add(std::span<const Presence> wanted, std::int64_t sign);

  std::int64_t budget_bytes_;
  solve::RangeMax profile_;
  const cost::CostTable& costs_;
};

// Lets copies back begin ahead of their use, so early that the link is through with them by then,
// where there is room for that long; else later, and at the use if nothing else will do. The link
// is one lane to each tier, filled from the end of the step. A swap whose `need` is after the end
// of the step is left alone. Requires: every swap is issued when it is needed.
void fetch_ahead(const Problem& problem, const StepClock& clock, const TakeRoom& take_room,
                 std::vector<SwapDecision>& swaps);

}  // namespace lowtide::policy
