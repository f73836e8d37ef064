// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/comparison_csv.h"

#include "base/check.h"
#include "base/csv.h"
#include "base/printed.h"

namespace lowtide::cli {
namespace {

using base::concat;
using base::csv_field;
using base::printed;

// Nine digits are more than any figure here is worth, and read the same everywhere.
std::string number(double value) { return printed("%.9g", value); }

std::string figures(const ComparedPlan& plan) {
  const std::string planning =
      concat(number(plan.plan_seconds), ",", plan.was_stopped ? 1 : 0, ",");
  if (plan.refusal) return ",,,,," + planning;
  return concat(number(plan.step_seconds), ",", number(plan.overhead), ",", plan.peak_bytes, ",",
                plan.moved_bytes, ",", number(plan.recompute_seconds), ",", planning);
}

}  // namespace

std::string comparison_csv_head() {
  return "trace,machine,plain_peak_bytes,plain_step_seconds,budget,budget_bytes,policy,best,"
         "refused,step_seconds,overhead,peak_bytes,moved_bytes,recompute_seconds,plan_seconds,"
         "stopped_early,smallest_budget_bytes,reason\n";
}

std::string comparison_csv(const PlainStep& step, const std::vector<ComparedPlan>& plans) {
  const std::string common =
      concat(csv_field(step.trace->name()), ",", csv_field(step.machine.name), ",",
             step.memory.plain_peak_bytes, ",", number(step.timeline.seconds), ",");
  std::string text;
  for (const ComparedPlan& plan : plans) {
    const std::string refusal = plan.refusal ? concat(plan.refusal->smallest_budget_bytes, ",",
                                                      csv_field(plan.refusal->reason))
                                             : ",";
    text +=
        concat(common, csv_field(plan.budget), ",", plan.budget_bytes, ",", plan.policy, ",",
               plan.is_best ? 1 : 0, ",", plan.refusal ? 1 : 0, ",", figures(plan), refusal, "\n");
  }
  return text;
}

}  // namespace lowtide::cli
