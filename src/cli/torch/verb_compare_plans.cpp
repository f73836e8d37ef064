// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>

#include "cli/comparison_run.h"
#include "cli/inputs.h"
#include "cli/torch/run_options.h"
#include "cli/torch/run_verb.h"
#include "cli/torch/verbs.h"
#include "cli/verb_options.h"
#include "train/profile.h"

namespace lowtide::cli {
namespace {

constexpr const char* kExamples =
    "\nExamples:\n"
    "  lowtide compare small_resnet --budgets 80%,60%,40%\n"
    "  lowtide compare small_resnet --batch 32 --budgets 60% --policies tide,dtr --html page.html\n"
    "\nA step of the model is recorded without a budget, as by 'lowtide profile', and every policy "
    "plans\n"
    "it for the machine that it was recorded on. With --measure the model is trained inside the "
    "budgets instead.";

struct PlansChoice : RunChoice {
  ComparisonOptions comparison;
  // Empty: the one that the step is recorded on.
  std::string machine;
};

ExitCode run_compare_plans(const CLI::App& verb, const PlansChoice& choice, Console& console) {
  train::TrainingOptions training = resolve(verb, choice).training;
  ComparisonRun run(choice.comparison);
  std::optional<Machine> machine;
  if (!choice.machine.empty()) machine = load_machine(choice.machine, console.in);
  std::optional<train::Profile> profile;
  run_with_progress(console, training.batch,
                    [&](const train::Hooks& hooks) { profile = train::profile(training, hooks); });
  if (!profile) return stopped_before_recording(console);
  if (machine) {
    const auto trace = std::make_shared<const Trace>(std::move(profile->trace));
    run.add(PlainStep(trace, *std::move(machine)), console);
  } else {
    run.add(PlainStep(profile->at_home.trace, std::move(profile->at_home.machine)), console);
  }
  return run.finish(console);
}

}  // namespace

Verb add_compare_plans(CLI::App& program) {
  auto choice = std::make_shared<PlansChoice>();
  CLI::App* verb = program.add_subcommand(
      "compare", "Record a step of a model, and set policies side by side under budgets");
  add_model_options(*verb, *choice);
  add_weights_option(*verb, *choice);
  add_batch_option(*verb, *choice);
  add_comparison_options(*verb, choice->comparison);
  verb->add_option("--machine", choice->machine,
                   "Where the step is simulated: h200, pcie4, unit or a JSON file (default: the "
                   "machine that it is recorded on)")
      ->type_name("NAME|FILE");
  verb->footer(kExamples);
  return Verb{verb, [verb, choice](Console& console) {
                return run_compare_plans(*verb, *choice, console);
              }};
}

}  // namespace lowtide::cli
