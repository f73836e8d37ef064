// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Moves to the first tier what is not needed for longest, as Belady's rule for pages has it: with
// all next uses known, what is used again soonest stays. It works from the other end: everything
// leaves after each use, then the values stay over their shortest gaps for as long as the budget
// has room, and what still leaves is brought back ahead of its use where there is room for that.
//
// Limits: it looks at how long a gap is and at nothing else. The rule is optimal for pages of one
// size that cost the same; storages are neither, and it knows nothing of replays.
#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "cost/op_cost.h"
#include "policy/factories.h"
#include "policy/fetch_ahead.h"
#include "policy/gap_writer.h"
#include "policy/hybrid/step_clock.h"
#include "policy/idle_gaps.h"
#include "policy/option_reader.h"
#include "policy/storages_to_move.h"

namespace lowtide::policy {
namespace {

class BeladyPlanner {
 public:
  explicit BeladyPlanner(const Problem& problem)
      : problem_(problem),
        trace_(*problem.trace),
        lifetimes_(*trace_.lifetimes()),
        costs_(trace_, problem.machine),
        clock_(problem),
        groups_(idle_gaps(trace_, lifetimes_, storages_to_move(problem))) {
    sort_by_idle_seconds(groups_, lifetimes_, clock_);
  }

  PlanOutcome plan() const {
    GapDecisions all;
    for (const GapGroup& group : groups_) leave(trace_, group, TierId{0}, all);
    const WrittenPlan least = write(all);
    if (least.peak_bytes > problem_.budget_bytes) {
      return Refusal{.reason = base::concat("with everything moved away the step still takes ",
                                            base::format_bytes(least.peak_bytes)),
                     .smallest_budget_bytes = least.peak_bytes};
    }
    RoomBelow room(problem_.budget_bytes, least.tick_bytes, costs_);
    GapDecisions decisions;
    for (const GapGroup& group : groups_) {
      if (!room(if_it_stays(group, lifetimes_))) leave(trace_, group, TierId{0}, decisions);
    }
    fetch_ahead(problem_, clock_, std::ref(room), decisions.swaps);
    WrittenPlan written = write(decisions);
    LT_CHECK(written.peak_bytes <= problem_.budget_bytes,
             "what stays was counted, but the step takes ", written.peak_bytes);
    return finish_plan(problem_, "belady", std::move(written));
  }

 private:
  WrittenPlan write(const GapDecisions& decisions) const {
    return write_moves(problem_, lifetimes_, costs_, decisions);
  }

  const Problem& problem_;
  const Trace& trace_;
  const trace::Lifetimes& lifetimes_;
  const cost::CostTable costs_;
  const StepClock clock_;
  // The shortest first.
  std::vector<GapGroup> groups_;
};

class Belady final : public Policy {
 public:
  PlanOutcome plan(const Problem& problem) const override { return BeladyPlanner(problem).plan(); }
};

}  // namespace

std::unique_ptr<Policy> make_belady(const PolicyOptions& options) {
  OptionReader("belady", options).finish();
  return std::make_unique<Belady>();
}

}  // namespace lowtide::policy
