// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Jain et al., Checkmate: breaking the memory wall with optimal tensor rematerialization,
// MLSys 2020.
//
// Which values are there before each op, and what is replayed for it, is an integer programme: the
// fewest seconds of replays within the budget. It is solved, so this is a reference for what other
// policies could do. Each op is replayed at most once before another, in order of execution.
//
// Where this departs from the paper: all questions but "is it kept?" are fractions, since their
// best answers are whole by themselves (checkmate_program.h); what a plan does is written from
// those answers alone, as the rounding of the paper does; ops that work in place, side effects,
// workspaces and values held past their death are as in any plan. Programmes that are too large
// are refused; with large=round they are solved in fractions and rounded as in the paper (two-phase
// rounding), which leave `allowance` of the budget free, and twice as much where the rounded plan
// does not fit, and so on.
//
// Limits: for small steps. With effort spent the best so far is taken, and if none was found, the
// plan of the smallest peak. Needs HiGHS; without it only what fits anyway is planned.
#include "base/bytes.h"
#include "base/check.h"
#include "plan/bounds.h"
#include "policy/factories.h"
#include "policy/gap_writer.h"
#include "policy/option_reader.h"
#include "policy/recompute/checkmate_program.h"
#include "policy/recompute/room_search.h"
#include "policy/smallest_budget.h"

namespace lowtide::policy {
namespace {

using Goal = CheckmateProgram::Goal;

struct CheckmateOptions {
  std::size_t most_choices = 3000;
  bool rounds_large = false;
  std::size_t most_fractions = 30'000;
  double allowance = 0.1;
  solve::MilpOptions solver{
      .effort = 20'000, .seed = 1, .gap = 1e-4, .start = {}, .should_stop = {}};
};

class Checkmate final : public Policy {
 public:
  explicit Checkmate(CheckmateOptions options) : options_(std::move(options)) {}

  PlanOutcome plan(const Problem& problem) const override {
    return plan_or_grant(problem, [&](const Problem& p) { return plan_once(p); });
  }

 private:
  PlanOutcome plan_once(const Problem& problem) const {
    const std::int64_t plain =
        plan::memory_bounds(*problem.trace, problem.machine).plain_peak_bytes;
    if (plain <= problem.budget_bytes) return finish_plan(problem, "checkmate", {});
    if (!solve::has_milp_solver()) return Refusal{solve::no_milp_solver(), plain};
    const cost::CostTable costs(*problem.trace, problem.machine);
    CheckmateProgram program(problem, costs);
    if (program.choices() > options_.most_choices) {
      const bool is_rounded = options_.rounds_large && program.choices() <= options_.most_fractions;
      if (is_rounded) return plan_rounded(problem, program, plain);
      return Refusal{
          base::concat("the programme has ", program.choices(), " yes-or-no questions, more than ",
                       options_.most_choices, "; with the option most_choices it may have as many"),
          plain};
    }
    std::int64_t smallest_peak = plain;
    for (const Goal goal : {Goal::kFewestSeconds, Goal::kSmallestPeak}) {
      const auto found = write(problem, program.solve(goal, solver_for(problem)));
      if (!found) continue;
      const Verdict verdict = verify(problem, *found);
      if (verdict.peak_bytes <= problem.budget_bytes) {
        LT_CHECK(verdict.ok(), "a solved plan is right: ", verdict.violations.front().message);
        return *found;
      }
      smallest_peak = std::min(smallest_peak, verdict.peak_bytes);
    }
    if (smallest_peak == plain) {
      return Refusal{"nothing below the plain step's peak was found within the effort", plain};
    }
    return Refusal{base::concat("the smallest peak found is ", base::format_bytes(smallest_peak)),
                   smallest_peak};
  }

  PlanOutcome plan_rounded(const Problem& problem, CheckmateProgram& program,
                           std::int64_t plain) const {
    std::int64_t smallest_peak = plain;
    for (double free = options_.allowance; free < 1; free *= 2) {
      const auto found = write(problem, program.solve_rounded(1 - free, solver_for(problem)));
      if (!found) continue;
      const Verdict verdict = verify(problem, *found);
      if (verdict.peak_bytes <= problem.budget_bytes) {
        LT_CHECK(verdict.ok(), "a rounded plan is right: ", verdict.violations.front().message);
        return *found;
      }
      smallest_peak = std::min(smallest_peak, verdict.peak_bytes);
    }
    return Refusal{
        base::concat("the smallest peak of rounded answers is ", base::format_bytes(smallest_peak)),
        smallest_peak};
  }

  solve::MilpOptions solver_for(const Problem& problem) const {
    solve::MilpOptions solver = options_.solver;
    solver.should_stop = problem.should_stop;
    return solver;
  }

  static std::optional<Plan> write(const Problem& problem,
                                   const std::optional<StayDecisions>& decisions) {
    if (!decisions) return std::nullopt;
    const auto ops = static_cast<std::int64_t>(problem.trace->ops().size());
    auto actions = write_stays(*problem.trace, *problem.trace->lifetimes(), *decisions, ops * ops);
    if (!actions) return std::nullopt;
    WrittenPlan written;
    written.actions = *std::move(actions);
    return finish_plan(problem, "checkmate", std::move(written));
  }

  CheckmateOptions options_;
};

}  // namespace

std::unique_ptr<Policy> make_checkmate(const PolicyOptions& options) {
  OptionReader reader("checkmate", options);
  CheckmateOptions parsed;
  parsed.most_choices =
      static_cast<std::size_t>(reader.integer("most_choices", 3000, 1, 1'000'000));
  parsed.rounds_large = reader.choice<bool>("large", false, {{"refuse", false}, {"round", true}});
  parsed.most_fractions =
      static_cast<std::size_t>(reader.integer("most_fractions", 30'000, 1, 10'000'000));
  parsed.allowance = reader.number("allowance", parsed.allowance, 0.01, 0.9);
  parsed.solver.gap = reader.number("gap", parsed.solver.gap, 0, 1);
  parsed.solver.effort = reader.integer("effort", parsed.solver.effort, 1, std::int64_t{1} << 40);
  parsed.solver.seed =
      static_cast<std::int32_t>(reader.integer("seed", parsed.solver.seed, 0, 1 << 30));
  reader.finish();
  return std::make_unique<Checkmate>(std::move(parsed));
}

}  // namespace lowtide::policy
