// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/check.h"
#include "cli/figures.h"
#include "cli/option_checks.h"
#include "cli/torch/report_json.h"
#include "cli/torch/run_options.h"
#include "cli/torch/run_verb.h"
#include "cli/torch/verbs.h"
#include "train/verify.h"

namespace lowtide::cli {
namespace {

constexpr std::int64_t kDefaultSteps = 10;
constexpr const char* kExamples =
    "\nExamples:\n"
    "  lowtide verify small_resnet --budget 40%\n"
    "  lowtide verify gpt --layers 2 --width 64 --heads 2 --context 64 --budget 60% --steps 5\n"
    "\nCompared after every step: loss, gradients, parameters, buffers, the optimizer's states "
    "and\n"
    "the random generators'. Exit code 0: identical, 1: not.";

std::string difference_text(const train::Difference& difference) {
  std::string text =
      base::concat("different after step ", difference.step, ": ", difference.tensor);
  if (const auto& element = difference.element) {
    text += base::concat(", element ", element->element, ": plain ", element->wanted, ", managed ",
                         element->got);
  }
  return text;
}

std::string verdict_text(const train::Verdict& verdict) {
  const train::Report& report = verdict.report;
  std::string text = verdict.difference
                         ? difference_text(*verdict.difference)
                         : base::concat("identical over ", verdict.compared_steps,
                                        verdict.compared_steps == 1 ? " step" : " steps");
  text += base::concat("\n", base::format_bytes(report.stats.peak_bytes), " at most of ",
                       base::format_bytes(report.budget_bytes), "; plain ",
                       base::format_bytes(report.plain_peak_bytes.value_or(0)), "\n");
  if (report.step_seconds && verdict.plain_step_seconds) {
    text += base::concat(
        base::format_seconds(*report.step_seconds), " a step; plain ",
        base::format_seconds(*verdict.plain_step_seconds), " (",
        format_overhead(overhead(*verdict.plain_step_seconds, *report.step_seconds)), ")\n");
  }
  return text;
}

ExitCode run_verify(const CLI::App& verb, const RunChoice& choice, Console& console) {
  const train::RunOptions options = resolve(verb, choice);
  train::Verdict verdict;
  run_with_progress(console, options.training.batch,
                    [&](const train::Hooks& hooks) { verdict = train::verify(options, hooks); });
  console.out << (choice.json ? verdict_json(verdict).dump(1) + "\n" : verdict_text(verdict));
  if (verdict.difference) return ExitCode::kFailed;
  return verdict.report.was_interrupted ? ExitCode::kInterrupted : ExitCode::kDone;
}

}  // namespace

Verb add_verify(CLI::App& program) {
  auto choice = std::make_shared<RunChoice>();
  choice->run.steps = kDefaultSteps;
  CLI::App* verb =
      program.add_subcommand("verify", "Train with and without a budget, and compare bit for bit");
  add_run_options(*verb, *choice);
  add_weights_option(*verb, *choice);
  verb->get_option("--budget")->required();
  verb->add_option("--steps", choice->run.steps, "How many steps to compare (default: 10)")
      ->check(whole_number(1))
      ->type_name("N");
  verb->footer(kExamples);
  return Verb{verb,
              [verb, choice](Console& console) { return run_verify(*verb, *choice, console); }};
}

}  // namespace lowtide::cli
