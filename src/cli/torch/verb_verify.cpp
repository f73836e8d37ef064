// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/json_text.h"
#include "cli/option_checks.h"
#include "cli/torch/report_json.h"
#include "cli/torch/run_options.h"
#include "cli/torch/run_verb.h"
#include "cli/torch/verbs.h"
#include "cli/torch/verdict_text.h"
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
    "the random generators'. Exit code 0: identical, 1: different (with --json that says\n"
    "\"identical\": false; a failure prints no JSON), 3: the budget cannot be kept, 130: "
    "interrupted.";

ExitCode run_verify(const CLI::App& verb, const RunChoice& choice, Console& console) {
  const train::RunOptions options = resolve(verb, choice);
  train::Verdict verdict;
  run_with_progress(console, options.training.batch,
                    [&](const train::Hooks& hooks) { verdict = train::verify(options, hooks); });
  console.out << (choice.json ? json_text(verdict_json(verdict)) : verdict_text(verdict));
  return exit_code_of(verdict);
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
