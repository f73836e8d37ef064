// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Hildebrand et al., AutoTM: automatic tensor movement in heterogeneous memory systems using
// integer linear programming, ASPLOS 2020.
//
// Every value is in the fast tier (the device) or the slow one (the host) between two of its uses.
// An integer programme chooses where, so that the fast one never holds more than the budget and
// the step loses least: a synchronous move stops the device for both copies and frees its bytes for
// the whole gap; an asynchronous one runs beside the ops, frees them only while nothing is under
// way, and costs what the copies beside a stretch of the step take longer than the stretch.
//
// Where this departs from the paper: ops read and write the fast tier only, as theirs for GPUs do.
// A copy beside the ops is spread over its window, and the time that copies may take is counted by
// stretches of the step, not by ops, with two leads for the way back to choose from. Only the
// largest gaps are in the programme; the others stay, or all of them move if it cannot be
// otherwise. The paper has a third form, `static`, where a value lies in one tier for all its life
// and ops read both: ops of a GPU do not, so that there is no such form here.
//
// Limits: with effort spent the best so far is taken; with form=asynchronous that may be none, and
// the budget is refused. Needs HiGHS; without it only what fits anyway
// is planned.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "cost/op_cost.h"
#include "policy/factories.h"
#include "policy/gap_writer.h"
#include "policy/idle_gaps.h"
#include "policy/option_reader.h"
#include "policy/smallest_budget.h"
#include "policy/storages_to_move.h"
#include "solve/milp.h"

namespace lowtide::policy {
namespace {

using trace::Tick;
using Terms = std::vector<solve::LinearProgram::Term>;
using Column = solve::LinearProgram::Column;

// How long before its use an asynchronous copy back begins, in its own lengths.
constexpr std::array<double, 2> kLeads{1, 3};

// How often the programme may grow to twice its size where a smaller one has no answer.
constexpr int kDoublings = 2;

// Which moves are in the programme.
enum class Form { kBoth, kSynchronous, kAsynchronous };

struct AutotmOptions {
  Form form = Form::kBoth;
  std::size_t gaps = 120;
  std::size_t stretches = 48;
  solve::MilpOptions solver{.effort = 2000, .seed = 1, .gap = 1e-3, .start = {}, .should_stop = {}};
};

// A gap under one way to move it: when its bytes are free, and when the link is taken.
struct Window {
  IdleGap gap;
  Tick gone_from = 0;
  Tick gone_to = 0;
  Tick issue = 0;
  double out_begin = 0;
  double out_seconds = 0;
  double in_begin = 0;
  double in_end = 0;
  double in_seconds = 0;
};

// One way to move all gaps of a choice.
struct Way {
  std::size_t choice = 0;
  bool is_synchronous = true;
  std::vector<Window> windows;
  Column column = 0;
};

class Planner {
 public:
  Planner(const Problem& problem, const AutotmOptions& options)
      : problem_(problem),
        trace_(*problem.trace),
        lifetimes_(*trace_.lifetimes()),
        costs_(trace_, problem.machine),
        clock_(problem),
        options_(options) {
    choices_ = idle_gaps(trace_, lifetimes_, storages_to_move(problem));
    // By bytes times seconds: what frees most for longest.
    std::stable_sort(choices_.begin(), choices_.end(),
                     [&](const GapGroup& a, const GapGroup& b) { return weight(a) > weight(b); });
  }

  PlanOutcome plan() {
    const WrittenPlan plain = write({});
    if (plain.peak_bytes <= problem_.budget_bytes) return finish_plan(problem_, "autotm", plain);
    GapDecisions all;
    for (const GapGroup& choice : choices_) leave(trace_, choice, TierId{0}, all);
    WrittenPlan least = write(all);
    if (!solve::has_milp_solver()) return Refusal{solve::no_milp_solver(), plain.peak_bytes};
    if (least.peak_bytes > problem_.budget_bytes) {
      return Refusal{base::concat("with everything moved away the step still takes ",
                                  base::format_bytes(least.peak_bytes)),
                     may_wait() ? least.peak_bytes : plain.peak_bytes};
    }
    // What is not in the programme stays; if that is too much, the programme grows, and at last all
    // of the rest is moved.
    GapDecisions rest;
    gaps_ = options_.gaps;
    for (int doubling = 0; doubling <= kDoublings; ++doubling, gaps_ *= 2) {
      if (auto written = solve(rest)) return finish_plan(problem_, "autotm", *std::move(written));
    }
    if (!may_wait()) {
      return Refusal{
          base::concat(is_spent_ ? "no plan with copies beside the ops alone was found "
                                   "within the effort (option effort) for "
                                 : "copies beside the ops alone do not make the step fit ",
                       base::format_bytes(problem_.budget_bytes)),
          plain.peak_bytes};
    }
    gaps_ = options_.gaps;
    for (std::size_t i = gaps_; i < choices_.size(); ++i) {
      leave(trace_, choices_[i], TierId{0}, rest);
    }
    auto written = solve(rest);
    return finish_plan(problem_, "autotm", written ? *std::move(written) : std::move(least));
  }

 private:
  double weight(const GapGroup& choice) const {
    return idle_seconds(choice, lifetimes_, clock_) *
           static_cast<double>(costs_.value(choice.gaps.front().value));
  }

  // Whether moves for which the device waits may be in the plan.
  bool may_wait() const { return options_.form != Form::kAsynchronous; }

  WrittenPlan write(const GapDecisions& decisions) const {
    return write_moves(problem_, lifetimes_, costs_, decisions);
  }

  // Nothing if the step does not fit with the rest as decided and moves of the form.
  std::optional<WrittenPlan> solve(const GapDecisions& rest) {
    find_ways();
    GapDecisions all = rest;
    for (std::size_t i = 0; i < in_programme(); ++i) leave(trace_, choices_[i], TierId{0}, all);
    WrittenPlan synchronous = write(all);
    if (synchronous.peak_bytes > problem_.budget_bytes) return std::nullopt;
    program_ = {};
    start_.clear();
    add_ways();
    add_memory(write(rest).tick_bytes);
    add_links();
    solve::MilpOptions options = options_.solver;
    // It moves everything synchronously.
    if (may_wait()) options.start = start_;
    options.should_stop = problem_.should_stop;
    const solve::MilpAnswer answer = solve::solve_milp(program_, options);
    if (answer.has_solution()) {
      WrittenPlan written = write(chosen(rest, answer.values));
      if (written.peak_bytes <= problem_.budget_bytes) return written;
    }
    if (may_wait()) return synchronous;
    // Without a way that frees anything there was nothing to search.
    is_spent_ = !ways_.empty() && answer.status == solve::MilpAnswer::Status::kUnknown;
    return std::nullopt;
  }

  std::size_t in_programme() const { return std::min(gaps_, choices_.size()); }

  void find_ways() {
    ways_.clear();
    for (std::size_t i = 0; i < in_programme(); ++i) {
      Way synchronous{i, true, {}, 0};
      for (const IdleGap& gap : choices_[i].gaps) synchronous.windows.push_back(whole(gap));
      if (may_wait()) ways_.push_back(std::move(synchronous));
      if (options_.form == Form::kSynchronous) continue;
      for (const double lead : kLeads) {
        Way way{i, false, {}, 0};
        for (const IdleGap& gap : choices_[i].gaps) way.windows.push_back(beside(gap, lead));
        const bool frees = std::any_of(way.windows.begin(), way.windows.end(),
                                       [](const Window& w) { return w.gone_from <= w.gone_to; });
        if (frees) ways_.push_back(std::move(way));
      }
    }
  }

  Window whole(const IdleGap& gap) const {
    const Tier& tier = problem_.machine.tiers.front();
    const std::int64_t bytes = trace_.storage_of(gap.value).bytes;
    // After its last use it frees nothing once the program lets go of it, or overwrites it.
    const trace::Lifetime& life = lifetimes_.of(gap.value);
    const Tick last = life.overwritten ? life.dies - 1 : life.dies;
    Window window{gap, gap.after + 1, std::min(gap.need - 1, last), gap.need, 0, 0, 0, 0, 0};
    if (gap.after >= 0) window.out_seconds = cost::write_seconds(tier, bytes);
    if (gap.need <= lifetimes_.end()) window.in_seconds = cost::read_seconds(tier, bytes);
    return window;
  }

  // The bytes go with the first op that starts after the way out, and are taken again from the
  // beginning of the way back.
  Window beside(const IdleGap& gap, double lead) const {
    Window window = whole(gap);
    window.out_begin = clock_.end(gap.after);
    window.gone_from = std::max(window.gone_from,
                                clock_.first_starting_from(window.out_begin + window.out_seconds));
    if (window.in_seconds > 0) {
      window.in_end = clock_.start(gap.need);
      window.issue = std::clamp(clock_.last_started_by(window.in_end - lead * window.in_seconds),
                                gap.after + 1, gap.need);
      window.in_begin = clock_.start(window.issue);
      window.gone_to = window.issue - 1;
    }
    return window;
  }

  // In the answer to begin with, everything moves synchronously.
  void add_ways() {
    std::vector<Terms> of_choice(in_programme());
    for (Way& way : ways_) {
      double cost = 0;
      for (const Window& window : way.windows) cost += window.out_seconds + window.in_seconds;
      // Of two that cost nothing, the one with less to copy.
      way.column = program_.add_binary(seconds(way.is_synchronous ? cost : 1e-3 * cost));
      start_.push_back(way.is_synchronous ? 1 : 0);
      of_choice[way.choice].push_back({way.column, 1});
    }
    for (Terms& terms : of_choice) program_.at_most(1, std::move(terms));
  }

  // As a share of the plain step, so that numbers are neither tiny nor huge.
  double seconds(double amount) const { return amount / std::max(costs_.total_seconds, 1e-12); }
  double bytes(std::int64_t amount) const {
    return static_cast<double>(amount) /
           static_cast<double>(std::max<std::int64_t>(1, problem_.budget_bytes));
  }

  // A row for each stretch of ticks in which the same gaps are free, if its fullest tick is over
  // the budget.
  void add_memory(const std::vector<std::int64_t>& tick_bytes) {
    std::vector<bool> begins(tick_bytes.size() + 1, false);
    for (const Way& way : ways_) {
      for (const Window& window : way.windows) {
        if (window.gone_from > window.gone_to) continue;
        begins[static_cast<std::size_t>(window.gone_from)] = true;
        begins[static_cast<std::size_t>(window.gone_to) + 1] = true;
      }
    }
    std::int64_t fullest = 0;
    for (std::size_t tick = 0; tick < tick_bytes.size(); ++tick) {
      fullest = std::max(fullest, tick_bytes[tick]);
      if (tick + 1 < tick_bytes.size() && !begins[tick + 1]) continue;
      if (fullest > problem_.budget_bytes) add_memory_row(static_cast<Tick>(tick), fullest);
      fullest = 0;
    }
  }

  void add_memory_row(Tick tick, std::int64_t taken) {
    Terms terms;
    for (const Way& way : ways_) {
      for (const Window& window : way.windows) {
        if (tick < window.gone_from || tick > window.gone_to) continue;
        terms.push_back({way.column, bytes(costs_.value(window.gap.value))});
      }
    }
    const auto spare = static_cast<double>(problem_.budget_bytes) * solve::kRowTolerance;
    const std::int64_t excess =
        taken - problem_.budget_bytes + static_cast<std::int64_t>(std::floor(spare));
    program_.at_least(bytes(excess), std::move(terms));
  }

  // For each stretch of the step and each direction, what the copies beside it take longer than it.
  void add_links() {
    const double total = clock_.end(lifetimes_.end());
    const double length = total / static_cast<double>(options_.stretches);
    if (length <= 0) return;
    for (std::size_t i = 0; i < options_.stretches; ++i) {
      const double begin = length * static_cast<double>(i);
      for (const bool is_out : {true, false}) {
        Terms terms;
        for (const Way& way : ways_) {
          if (way.is_synchronous) continue;
          double taken = 0;
          for (const Window& window : way.windows) taken += taken_in(window, is_out, begin, length);
          if (taken > 0) terms.push_back({way.column, seconds(taken)});
        }
        if (terms.empty()) continue;
        terms.push_back(
            {program_.add_column(1, 0, std::numeric_limits<double>::infinity(), false), -1});
        start_.push_back(0);
        program_.at_most(seconds(length), std::move(terms));
      }
    }
  }

  static double taken_in(const Window& window, bool is_out, double begin, double length) {
    const double copy = is_out ? window.out_seconds : window.in_seconds;
    const double from = is_out ? window.out_begin : window.in_begin;
    const double to = is_out ? window.out_begin + window.out_seconds : window.in_end;
    if (copy <= 0) return 0;
    // A copy that does not fit into its window counts where it is waited for.
    if (to - from < copy) return begin <= to && to < begin + length ? copy : 0;
    const double common = std::min(to, begin + length) - std::max(from, begin);
    return std::max(0.0, common) * copy / (to - from);
  }

  GapDecisions chosen(const GapDecisions& rest, const std::vector<double>& values) const {
    GapDecisions decisions = rest;
    for (const Way& way : ways_) {
      if (values[static_cast<std::size_t>(way.column)] < 0.5) continue;
      for (const Window& window : way.windows)
        leave(trace_, window.gap, TierId{0}, window.issue, decisions);
    }
    return decisions;
  }

  const Problem& problem_;
  const Trace& trace_;
  const trace::Lifetimes& lifetimes_;
  const cost::CostTable costs_;
  const StepClock clock_;
  const AutotmOptions& options_;
  // How many are in the programme.
  std::size_t gaps_ = 0;
  // Whether the last programme was given up without an answer.
  bool is_spent_ = false;
  std::vector<GapGroup> choices_;
  std::vector<Way> ways_;
  solve::LinearProgram program_;
  std::vector<double> start_;
};

class Autotm final : public Policy {
 public:
  explicit Autotm(AutotmOptions options) : options_(std::move(options)) {}
  PlanOutcome plan(const Problem& problem) const override {
    PlanOutcome outcome = Planner(problem, options_).plan();
    auto* refusal = std::get_if<Refusal>(&outcome);
    if (refusal == nullptr || options_.form != Form::kAsynchronous) return outcome;
    // How far copies beside the ops go, only they themselves tell.
    refusal->smallest_budget_bytes = smallest_budget(
        problem.budget_bytes, refusal->smallest_budget_bytes, [&](std::int64_t budget) {
          Problem larger = problem;
          larger.budget_bytes = budget;
          return std::holds_alternative<Plan>(Planner(larger, options_).plan());
        });
    return outcome;
  }

 private:
  AutotmOptions options_;
};

}  // namespace

std::unique_ptr<Policy> make_autotm(const PolicyOptions& options) {
  OptionReader reader("autotm", options);
  AutotmOptions parsed;
  parsed.form = reader.choice<Form>("form", parsed.form,
                                    {{"both", Form::kBoth},
                                     {"synchronous", Form::kSynchronous},
                                     {"asynchronous", Form::kAsynchronous}});
  parsed.solver.gap = reader.number("gap", parsed.solver.gap, 0, 1);
  parsed.gaps = static_cast<std::size_t>(reader.integer("gaps", 120, 1, 100'000));
  parsed.stretches = static_cast<std::size_t>(reader.integer("stretches", 48, 1, 10'000));
  parsed.solver.effort = reader.integer("effort", parsed.solver.effort, 1, std::int64_t{1} << 40);
  parsed.solver.seed =
      static_cast<std::int32_t>(reader.integer("seed", parsed.solver.seed, 0, 1 << 30));
  reader.finish();
  return std::make_unique<Autotm>(std::move(parsed));
}

}  // namespace lowtide::policy
