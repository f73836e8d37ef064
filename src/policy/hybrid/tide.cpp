// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Tide: copies that nobody notices first, then chains of replays, then a search for better ones.
//
// 1. Swaps. A value's gap over the over-full part of the step gets slots in both lanes of the link,
//    the dearest to replay first, as long as both copies hide behind compute (tide_swaps).
// 2. Replays. The step is run under the budget with those swaps. When room is lacking, what is
//    cheapest to replay for its bytes goes, with all next uses known; what was replayed stays until
//    room is lacking again, so that a chain serves all its readers (tide_run). Where a replay wants
//    a swapped value early, the swaps are planned again.
// 3. Tries. How both weigh values is varied at random, from a seed and for a fixed number of
//    tries, and the simulator says which plan is best, on links slower than the machine's
//    (tide_search).
// 4. Polish. The best of them, the best plan of the floor, and swaps alone, or what is cheapest to
//    let go of tick by tick, are seeds of a large neighbourhood search over the spans of ticks in
//    which values are kept: every change's bytes, replays and dropped ancestors are counted
//    exactly, tick by tick (kept_spans, tide_refine, tide_polish). Of the seed that comes furthest
//    the swaps are varied too (swap_variation). Of a step of a few ops all replays are tried
//    (small_step).
// 5. Floor. Every other executable policy plans too, autotm where there is a solver and slow ones
//    only if asked for, and the quickest plan of all is taken (tide_floor).
// 6. Last resort. Where all of that is refused, the first plan of those that were not asked, copies
//    that show before replays that do not end; checkmate is never asked here.
//
// Limits: where HiGHS is there the plan may be another one than where it is not. Only one gap of a
// value is swapped, to the first tier; a move of the polish takes the swaps as they are, but for
// putting off fetches. Nothing is proved about the distance from the best plan. Each op is replayed
// at most once before an op by the polish.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "plan/bounds.h"
#include "policy/factories.h"
#include "policy/hybrid/tide_floor.h"
#include "policy/hybrid/tide_polish.h"
#include "policy/hybrid/tide_search.h"
#include "policy/option_reader.h"
#include "policy/smallest_budget.h"
#include "sim/simulation.h"

namespace lowtide::policy {
namespace {

class Tide final : public Policy {
 public:
  Tide(const TideOptions& options, Floor floor, bool has_last_resort)
      : options_(options), floor_(floor), has_last_resort_(has_last_resort) {}

  PlanOutcome plan(const Problem& given) const override {
    const Problem problem = options_.may_swap ? given : without_tiers(given);
    const plan::MemoryBounds bounds = plan::memory_bounds(*problem.trace, problem.machine);
    if (bounds.plain_peak_bytes <= problem.budget_bytes) return empty_plan(problem);
    std::int64_t works_at = bounds.plain_peak_bytes;
    std::optional<TimedPlan> best = best_of_floor(problem, works_at);
    if (!best || !problem.is_stopped()) {
      std::optional<Plan> found = search_tide(problem, options_, best ? &best->plan : nullptr);
      if (found) {
        const double seconds = sim::simulated_seconds(problem, *found);
        if (!best || seconds <= best->seconds) best = TimedPlan{*std::move(found), seconds};
      }
    }
    if (best) return renamed(std::move(best->plan));
    if (has_last_resort_) {
      std::optional<Plan> last = last_resort(problem, bounds, works_at);
      if (last) return renamed(*std::move(last));
    }
    return refusal(problem, std::max(problem.budget_bytes, bounds.working_set_bytes - 1), works_at);
  }

 private:
  Allowed allowed() const { return {options_.may_swap, options_.may_recompute}; }

  // Who may not move values plans for a machine that has nowhere to move them.
  static Problem without_tiers(Problem problem) {
    problem.machine.tiers.clear();
    return problem;
  }

  // The plan of a policy, if it has one; else `works_at` is lowered to the budget that it names.
  static std::optional<Plan> ask(const Policy& policy, const Problem& problem,
                                 std::int64_t& works_at) {
    PlanOutcome outcome = policy.plan(problem);
    if (Plan* plan = std::get_if<Plan>(&outcome)) return std::move(*plan);
    works_at = std::min(works_at, std::get<Refusal>(outcome).smallest_budget_bytes);
    return std::nullopt;
  }

  std::optional<TimedPlan> best_of_floor(const Problem& problem, std::int64_t& works_at) const {
    std::optional<TimedPlan> best;
    for (const std::unique_ptr<Policy>& policy : make_floor(floor_, allowed(), has_last_resort_)) {
      if (best && problem.is_stopped()) break;
      std::optional<Plan> plan = ask(*policy, problem, works_at);
      if (!plan) continue;
      const double seconds = sim::simulated_seconds(problem, *plan);
      if (!best || seconds < best->seconds) best = TimedPlan{*std::move(plan), seconds};
    }
    return best;
  }

  // The first that comes.
  std::optional<Plan> last_resort(const Problem& problem, const plan::MemoryBounds& bounds,
                                  std::int64_t& works_at) const {
    for (const std::unique_ptr<Policy>& policy : make_last_resorts(floor_, allowed())) {
      // Where nobody can have a plan it is enough that somebody has said how far it is to one.
      const bool is_hopeless = problem.budget_bytes < bounds.working_set_bytes;
      if ((is_hopeless || problem.is_stopped()) && works_at < bounds.plain_peak_bytes) break;
      std::optional<Plan> plan = ask(*policy, problem, works_at);
      if (plan) return plan;
    }
    return std::nullopt;
  }

  static Plan empty_plan(const Problem& problem) {
    Plan plan;
    plan.policy = "tide";
    plan.trace_digest = digest(*problem.trace);
    plan.budget_bytes = problem.budget_bytes;
    return plan;
  }

  static Plan renamed(Plan plan) {
    plan.policy = "tide";
    plan.online.reset();
    return plan;
  }

  Refusal refusal(const Problem& problem, std::int64_t fails_at, std::int64_t works_at) const {
    const std::int64_t smallest = smallest_budget(fails_at, works_at, [&](std::int64_t budget) {
      Problem larger = problem;
      larger.budget_bytes = budget;
      return tide_fits(larger, options_);
    });
    return Refusal{.reason = base::concat("neither copies nor replays make the step fit ",
                                          base::format_bytes(problem.budget_bytes),
                                          problem.is_stopped() ? "; the search was cut short" : ""),
                   .smallest_budget_bytes = smallest};
  }

  TideOptions options_;
  Floor floor_;
  bool has_last_resort_;
};

}  // namespace

std::unique_ptr<Policy> make_tide(const PolicyOptions& options) {
  OptionReader reader("tide", options);
  TideOptions parsed;
  parsed.tries = reader.number("tries", parsed.tries, 0, 1e6);
  parsed.seed = static_cast<std::uint64_t>(reader.integer("seed", 1, 0, 1LL << 62));
  parsed.may_swap = reader.choice<bool>("swap", parsed.may_swap, {{"yes", true}, {"no", false}});
  parsed.may_recompute =
      reader.choice<bool>("recompute", parsed.may_recompute, {{"yes", true}, {"no", false}});
  const auto floor = reader.choice<Floor>(
      "floor", Floor::kQuick, {{"yes", Floor::kQuick}, {"no", Floor::kNone}, {"all", Floor::kAll}});
  const bool has_last_resort =
      reader.choice<bool>("last_resort", true, {{"yes", true}, {"no", false}});
  reader.finish();
  return std::make_unique<Tide>(parsed, floor, has_last_resort);
}

}  // namespace lowtide::policy
