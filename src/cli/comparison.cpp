// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/comparison.h"

#include <algorithm>
#include <functional>
#include <ostream>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "cli/figures.h"
#include "cli/inputs.h"
#include "cli/stop_signal.h"
#include "cli/summary.h"
#include "cli/table.h"

namespace lowtide::cli {
namespace {

using base::concat;
using base::format_bytes;
using base::format_seconds;

ComparedPlan compare_one(const PlainStep& step, const Planner& planner, const std::string& budget,
                         const std::function<void(double)>& progress) {
  ComparedPlan result{.policy = planner.info->name,
                      .budget = budget,
                      .budget_bytes = budget_from(budget, step.memory.plain_peak_bytes)};
  const auto outcome = plan_step(step, planner, result.budget_bytes, progress);
  if (const auto* refused = std::get_if<RefusedStep>(&outcome)) {
    result.refusal = refused->refusal;
    result.plan_seconds = refused->plan_seconds;
    result.was_stopped = refused->was_stopped;
    result.summary = refusal_json(step, result.policy, result.budget_bytes, *refused);
    return result;
  }
  const PlannedStep& planned = std::get<PlannedStep>(outcome);
  const Timeline& timeline = planned.timeline;
  const double plain_seconds = step.timeline.seconds;
  result.step_seconds = timeline.seconds;
  result.overhead = overhead(plain_seconds, timeline.seconds);
  result.peak_bytes = timeline.peak_bytes;
  result.moved_bytes = bytes_moved(timeline);
  result.recompute_seconds = timeline.recompute_seconds;
  result.plan_seconds = planned.plan_seconds;
  result.was_stopped = planned.was_stopped;
  result.summary = summary_json(step, planned);
  return result;
}

// Quick ones first, refusals last; those that need least memory first among equals.
bool is_better(const ComparedPlan& a, const ComparedPlan& b) {
  if (a.refusal || b.refusal) {
    if (!a.refusal || !b.refusal) return !a.refusal;
    return a.refusal->smallest_budget_bytes < b.refusal->smallest_budget_bytes;
  }
  return std::pair(a.step_seconds, a.peak_bytes) < std::pair(b.step_seconds, b.peak_bytes);
}

// "80% (6.40 GiB)", or only the size where that was given.
std::string budget_label(const ComparedPlan& plan) {
  if (!plan.budget.ends_with("%")) return format_bytes(plan.budget_bytes);
  return concat(plan.budget.substr(0, plan.budget.size() - 1), " %, ",
                format_bytes(plan.budget_bytes));
}

Table::Row row_of(const ComparedPlan& plan, bool is_first) {
  Table::Row row;
  row.starts_group = is_first;
  row.is_marked = plan.is_best;
  row.cells = {is_first ? budget_label(plan) : "", concat(plan.is_best ? "* " : "  ", plan.policy)};
  if (plan.refusal) {
    row.cells.push_back(concat("refused (min ", format_bytes(plan.refusal->smallest_budget_bytes),
                               ") in ", planned_in(plan), ": ", plan.refusal->reason));
    return row;
  }
  for (std::string& cell : std::vector<std::string>{
           format_overhead(plan.overhead), format_seconds(plan.step_seconds),
           format_bytes(plan.peak_bytes),
           plan.moved_bytes == 0 ? "-" : format_bytes(plan.moved_bytes),
           plan.recompute_seconds <= 0 ? "-" : format_seconds(plan.recompute_seconds),
           planned_in(plan)}) {
    row.cells.push_back(std::move(cell));
  }
  return row;
}

}  // namespace

std::string planned_in(const ComparedPlan& plan) {
  return concat(format_seconds(plan.plan_seconds), plan.was_stopped ? " (stopped)" : "");
}

std::vector<ComparedPlan> compare(const PlainStep& step, const std::vector<Planner>& planners,
                                  const std::vector<std::string>& budgets, Console& console) {
  std::vector<ComparedPlan> plans;
  const StopSignal signal;
  WipedLine line(console);
  const std::size_t total = planners.size() * budgets.size();
  for (const std::string& budget : budgets) {
    for (const Planner& planner : planners) {
      if (StopSignal::came()) break;
      const std::string at = concat(step.trace->name(), ": ", planner.info->name, " at ", budget,
                                    " (", plans.size() + 1, " of ", total, ")");
      line.show(at);
      plans.push_back(compare_one(step, planner, budget,
                                  [&](double seconds) { line.show_each_second(seconds, at); }));
    }
  }
  rank(plans);
  return plans;
}

void rank(std::vector<ComparedPlan>& plans) {
  for (auto first = plans.begin(); first != plans.end();) {
    const auto last = std::find_if(
        first, plans.end(), [&](const ComparedPlan& plan) { return plan.budget != first->budget; });
    std::stable_sort(first, last, is_better);
    first->is_best = !first->refusal;
    first = last;
  }
}

std::string comparison_text(const PlainStep& step, const std::vector<ComparedPlan>& plans,
                            const Style& style) {
  Table table({{"budget", Align::kLeft},
               {"  policy", Align::kLeft},
               {"overhead", Align::kRight},
               {"step", Align::kRight},
               {"peak", Align::kRight},
               {"moved", Align::kRight},
               {"recomputed", Align::kRight},
               {"planned in", Align::kRight}});
  for (std::size_t i = 0; i < plans.size(); ++i) {
    table.add(row_of(plans[i], i == 0 || plans[i].budget != plans[i - 1].budget));
  }
  return concat(bold(step.trace->name(), style), ": ", step.trace->ops().size(), " ops on ",
                step.machine.name, ", plain peak ", format_bytes(step.memory.plain_peak_bytes),
                ", ", format_seconds(step.timeline.seconds), "\n\n", table.text(style));
}

nlohmann::json comparison_json(const PlainStep& step, const std::vector<ComparedPlan>& plans) {
  nlohmann::json rows = nlohmann::json::array();
  for (const ComparedPlan& plan : plans) {
    nlohmann::json row = plan.summary;
    row["budget"] = plan.budget;
    row["refused"] = plan.refusal.has_value();
    row["best"] = plan.is_best;
    rows.push_back(std::move(row));
  }
  return {{"trace", step.trace->name()},
          {"device", step.machine.name},
          {"plain_peak_bytes", step.memory.plain_peak_bytes},
          {"plain_step_seconds", step.timeline.seconds},
          {"working_set_bytes", step.memory.working_set_bytes},
          {"plans", std::move(rows)}};
}

}  // namespace lowtide::cli
