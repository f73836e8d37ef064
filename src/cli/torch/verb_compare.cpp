// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/words.h"
#include "cli/inputs.h"
#include "cli/json_text.h"
#include "cli/option_checks.h"
#include "cli/output_file.h"
#include "cli/torch/price_plot.h"
#include "cli/torch/price_text.h"
#include "cli/torch/run_options.h"
#include "cli/torch/run_verb.h"
#include "cli/torch/verbs.h"
#include "cli/verb_options.h"
#include "train/price_curve.h"

namespace lowtide::cli {
namespace {

constexpr const char* kExamples =
    "\nExamples:\n"
    "  lowtide compare small_resnet --measure --budgets 100%,80%,60%,40%,20%\n"
    "  lowtide compare small_resnet --measure --budgets 80%,60% --svg price.svg --json\n"
    "\nThe model is trained plainly and inside each budget, in turns. Times are set against those "
    "of\n"
    "the plain training in the same round. A further GiB saves: what a step gets quicker on the "
    "way\n"
    "to the next larger budget. Kernels are deterministic, for the losses are compared with "
    "plain's:\n"
    "the exit code is 1 if they differ, and 3 if no budget can be kept. Ctrl-C keeps the rounds "
    "that\n"
    "are done.";

struct MeasureChoice : RunChoice {
  std::string budgets;
  train::CurveOptions curve;
  std::string svg;
  bool is_measured = false;
};

std::vector<std::string> budgets_from(const std::string& text) {
  std::vector<std::string> budgets;
  for (const std::string_view budget : base::split_on(text, ',')) {
    require_budget(budget);
    budgets.emplace_back(budget);
  }
  return budgets;
}

void explain(ExitCode code, Console& console) {
  if (code == ExitCode::kFailed) {
    print_error(console.err, "the losses are not plain's; see the results");
  } else if (code == ExitCode::kDoesNotFit) {
    print_error(console.err, "none of the budgets can be kept; the table says what ops need");
  }
}

ExitCode run_measured_compare(const CLI::App& verb, const MeasureChoice& choice, Console& console) {
  train::CurveOptions options = choice.curve;
  options.budgets = budgets_from(choice.budgets);
  options.run = resolve(verb, choice);
  if (choice.svg == "-")
    throw UsageError("--svg -: the table goes to standard output; name a file");
  // Not only when all is measured.
  if (!choice.svg.empty()) require_writable(choice.svg);
  std::optional<train::PriceCurve> curve;
  run_with_progress(console, options.run.training.batch,
                    [&](const train::Hooks& hooks) { curve = train::price_curve(options, hooks); });
  if (curve->was_interrupted) {
    const bool has_rounds = !curve->plain_seconds.empty();
    console.err << (has_rounds ? "stopped; only the rounds that were done count"
                               : "stopped before the first round was done")
                << std::endl;
    if (!has_rounds) return ExitCode::kInterrupted;
  }
  console.out << (choice.json ? json_text(price_json(*curve)) : price_text(*curve, console.style));
  if (!choice.svg.empty()) write_output_file(choice.svg, price_plot(*curve));
  const ExitCode code = price_exit_code(*curve);
  explain(code, console);
  return code;
}

CLI::Option* add_count(CLI::App& verb, const char* name, int& count, const char* help) {
  return verb.add_option(name, count, help)->type_name("N");
}

}  // namespace

Verb add_measured_compare(CLI::App& program) {
  auto choice = std::make_shared<MeasureChoice>();
  CLI::App* verb = program.add_subcommand(
      "compare", "Measure what a training costs inside one budget after another");
  add_model_options(*verb, *choice);
  add_weights_option(*verb, *choice);
  add_batch_option(*verb, *choice);
  add_rate_options(*verb, *choice);
  add_budgets_option(*verb, choice->budgets)->required();
  add_means_options(*verb, *choice);
  verb->add_flag("--measure", choice->is_measured, "Train for real, which is what this is about");
  add_count(*verb, "--rounds", choice->curve.rounds, "All of them in turn, so often (default: 3)")
      ->check(whole_number(1));
  add_count(*verb, "--steps", choice->curve.timed_steps, "Timed steps of each run (default: 5)")
      ->check(whole_number(1));
  add_count(*verb, "--untimed-steps", choice->curve.untimed_steps,
            "Steps before those, in which plans are made (default: 12)")
      ->check(whole_number(0));
  verb->add_option("--svg", choice->svg, "Draw the curve into this file")
      ->check(not_empty())
      ->type_name("FILE");
  add_json_option(*verb, choice->json);
  verb->footer(kExamples);
  return Verb{verb, [verb, choice](Console& console) {
                return run_measured_compare(*verb, *choice, console);
              }};
}

}  // namespace lowtide::cli
