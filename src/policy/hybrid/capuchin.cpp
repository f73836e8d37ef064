// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Capuchin (Peng et al., ASPLOS 2020). From one measured step: every value with a gap between two
// accesses that spans the over-full part of the step is a candidate. Its free time is
//   FT = (back access − swap time) − (evicting access + swap time).
// First values are swapped in order of FT, as long as the copies fit the link and hide behind
// compute. Then, until the step fits, the cheaper of a swap that shows and a replay is taken, the
// largest MSPS (bytes saved per second) first. Each choice changes the MSPS of others: whoever is
// made of what was chosen takes longer, and what the replays of earlier choices start from would
// have to be replayed for each of them.
//
// Departures. The link is two lanes, one a direction, in which each copy gets its own slot, so FT
// is what the lanes leave and not the formula alone. A value's longest gap is what may be swapped.
// A replay that reads a swapped value makes it come back earlier. As published the choice ends when
// the bytes saved reach the overshoot (until=published), which often misses the budget; until=fits
// then goes on, on the profile of the plan as written, and also drops in shorter gaps and drops
// what nobody reads again. It also makes the plan that counts a swap's bytes only once the copy is
// done, and takes whichever of the two the simulator finds faster.
//
// A way in starts as late as its lane allows, in the second phase behind the fullest op. Where it
// comes late all the same, the paper starts it earlier from step to step; at run time session/hurry
// does so, for plans of all policies.
//
// Limits: replays bring back a value for one reader and let go of it again.
#include "base/bytes.h"
#include "base/check.h"
#include "plan/bounds.h"
#include "policy/factories.h"
#include "policy/hybrid/capuchin_planner.h"
#include "policy/option_reader.h"
#include "policy/smallest_budget.h"

namespace lowtide::policy {
namespace {

class Capuchin final : public Policy {
 public:
  explicit Capuchin(const CapuchinOptions& options) : options_(options) {}

  PlanOutcome plan(const Problem& problem) const override {
    WrittenPlan written = plan_capuchin(problem, options_);
    if (written.peak_bytes <= problem.budget_bytes) {
      return finish_plan(problem, "capuchin", std::move(written));
    }
    return Refusal{.reason = base::concat("the fullest op still takes ",
                                          base::format_bytes(written.peak_bytes)),
                   .smallest_budget_bytes = find_smallest(problem, written.peak_bytes)};
  }

 private:
  std::int64_t find_smallest(const Problem& problem, std::int64_t reached_bytes) const {
    const auto works = [&](std::int64_t budget) {
      Problem larger = problem;
      larger.budget_bytes = budget;
      return plan_capuchin(larger, options_).peak_bytes <= budget;
    };
    if (works(reached_bytes)) return reached_bytes;
    const auto plain = plan::memory_bounds(*problem.trace, problem.machine).plain_peak_bytes;
    return smallest_budget(reached_bytes, plain, works);
  }

  CapuchinOptions options_;
};

}  // namespace

std::unique_ptr<Policy> make_capuchin(const PolicyOptions& options) {
  OptionReader reader("capuchin", options);
  CapuchinOptions parsed;
  parsed.until_fits =
      reader.choice<bool>("until", parsed.until_fits, {{"fits", true}, {"published", false}});
  parsed.may_swap = reader.choice<bool>("swap", parsed.may_swap, {{"yes", true}, {"no", false}});
  parsed.may_recompute =
      reader.choice<bool>("recompute", parsed.may_recompute, {{"yes", true}, {"no", false}});
  parsed.ignore_below = reader.number("ignore_below", parsed.ignore_below, 0, 1);
  reader.finish();
  return std::make_unique<Capuchin>(parsed);
}

}  // namespace lowtide::policy
