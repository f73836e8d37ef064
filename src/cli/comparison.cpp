// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/comparison.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "cli/figures.h"
#include "cli/inputs.h"
#include "cli/summary.h"
#include "cli/table.h"

namespace lowtide::cli {
namespace {

using base::concat;
using base::format_bytes;
using base::format_seconds;

ComparedPlan compare_one(const PlainStep& step, const Planner& planner, const std::string& budget) {
  ComparedPlan result{.policy = planner.info->name,
                      .budget = budget,
                      .budget_bytes = budget_from(budget, step.memory.plain_peak_bytes)};
  const auto outcome = plan_step(step, planner, result.budget_bytes);
  if (const Refusal* refusal = std::get_if<Refusal>(&outcome)) {
    result.refusal = *refusal;
    result.summary = refusal_json(step, result.policy, result.budget_bytes, *refusal);
    return result;
  }
  const PlannedStep& planned = std::get<PlannedStep>(outcome);
  const Timeline& timeline = planned.timeline;
  const double plain_seconds = step.timeline.seconds;
  result.step_seconds = timeline.seconds;
  result.overhead = overhead(plain_seconds, timeline.seconds);
  result.peak_bytes = timeline.peak_bytes;
  result.moved_bytes = bytes_moved(timeline);
  result.recompute_share = plain_seconds > 0 ? timeline.recompute_seconds / plain_seconds : 0;
  result.plan_seconds = planned.plan_seconds;
  result.summary = summary_json(step, planned);
  return result;
}

// A line on a terminal that is overwritten, and wiped in the end.
class Progress {
 public:
  explicit Progress(Console& console) : console_(console) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { show(""); }

  void show(const std::string& text) {
    if (console_.is_watched) console_.err << "\r\x1b[K" << text << std::flush;
  }

 private:
  Console& console_;
};

bool is_better(const ComparedPlan& a, const ComparedPlan& b) {
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
    row.cells.push_back(
        concat("refused (min ", format_bytes(plan.refusal->smallest_budget_bytes), ")"));
    return row;
  }
  for (std::string& cell : std::vector<std::string>{
           format_overhead(plan.overhead), format_bytes(plan.peak_bytes),
           plan.moved_bytes == 0 ? "-" : format_bytes(plan.moved_bytes),
           plan.recompute_share <= 0 ? "-" : format_percent(plan.recompute_share),
           format_seconds(plan.plan_seconds)}) {
    row.cells.push_back(std::move(cell));
  }
  return row;
}

}  // namespace

std::vector<ComparedPlan> compare(const PlainStep& step, const std::vector<Planner>& planners,
                                  const std::vector<std::string>& budgets, Console& console) {
  std::vector<ComparedPlan> plans;
  Progress progress(console);
  const std::size_t total = planners.size() * budgets.size();
  for (const std::string& budget : budgets) {
    for (const Planner& planner : planners) {
      progress.show(concat(step.trace->name(), ": ", planner.info->name, " at ", budget, " (",
                           plans.size() + 1, " of ", total, ")"));
      plans.push_back(compare_one(step, planner, budget));
    }
  }
  mark_best(plans);
  return plans;
}

void mark_best(std::vector<ComparedPlan>& plans) {
  ComparedPlan* best = nullptr;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (i > 0 && plans[i].budget != plans[i - 1].budget) best = nullptr;
    if (plans[i].refusal || (best != nullptr && !is_better(plans[i], *best))) continue;
    if (best != nullptr) best->is_best = false;
    best = &plans[i];
    best->is_best = true;
  }
}

std::string comparison_text(const PlainStep& step, const std::vector<ComparedPlan>& plans,
                            const Style& style) {
  Table table({{"budget", Align::kLeft},
               {"  policy", Align::kLeft},
               {"overhead", Align::kRight},
               {"peak", Align::kRight},
               {"moved", Align::kRight},
               {"recompute", Align::kRight},
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
