// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/torch/verdict_text.h"

#include "base/bytes.h"
#include "base/check.h"
#include "cli/figures.h"

namespace lowtide::cli {
namespace {

using base::concat;
using base::format_bytes;
using base::format_seconds;

std::string difference_text(const train::Difference& difference) {
  std::string text = concat("different after step ", difference.step, ": ", difference.tensor);
  if (const auto& element = difference.element) {
    text += concat(", element ", element->element, ": plain ", element->wanted, ", managed ",
                   element->got);
  }
  return text;
}

std::string steps_text(std::int64_t steps) {
  return concat(steps, steps == 1 ? " step" : " steps");
}

std::string finding_text(const train::Verdict& verdict) {
  if (verdict.difference) return difference_text(*verdict.difference);
  if (!verdict.report.was_interrupted) {
    return "identical over " + steps_text(verdict.compared_steps);
  }
  if (verdict.compared_steps == 0) return "interrupted before a step was compared";
  return concat("interrupted after ", steps_text(verdict.compared_steps), ", identical so far");
}

}  // namespace

std::string verdict_text(const train::Verdict& verdict) {
  const train::Report& report = verdict.report;
  std::string text = finding_text(verdict) + "\n";
  if (report.steps > 0) {
    text += concat(format_bytes(report.stats.peak_bytes), " at most of ",
                   format_bytes(report.budget_bytes), "; plain ",
                   format_bytes(report.plain_peak_bytes.value_or(0)), "\n");
  }
  if (report.step_seconds && verdict.plain_step_seconds) {
    text +=
        concat(format_seconds(*report.step_seconds), " a step; plain ",
               format_seconds(*verdict.plain_step_seconds), " (",
               format_overhead(overhead(*verdict.plain_step_seconds, *report.step_seconds)), ")\n");
  }
  return text;
}

ExitCode exit_code_of(const train::Verdict& verdict) {
  if (verdict.difference) return ExitCode::kFailed;
  return verdict.report.was_interrupted ? ExitCode::kInterrupted : ExitCode::kDone;
}

}  // namespace lowtide::cli
