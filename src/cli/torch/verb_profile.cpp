// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <memory>
#include <optional>
#include <ostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/check.h"
#include "cli/json_text.h"
#include "cli/output_file.h"
#include "cli/step_profile.h"
#include "cli/torch/run_options.h"
#include "cli/torch/run_verb.h"
#include "cli/torch/verbs.h"
#include "cli/trace_facts.h"
#include "cli/verb_options.h"
#include "trace/json.h"
#include "trace/text.h"
#include "train/profile.h"

namespace lowtide::cli {
namespace {

// Whose allocator rounds the sizes; its speed counts for ops that could not be timed.
constexpr const char* kMachine = "h200";
constexpr const char* kExamples =
    "\nExamples:\n"
    "  lowtide profile small_resnet                  what takes memory and time in a step\n"
    "  lowtide profile small_resnet -o step.json     and the step, as a trace\n"
    "  lowtide plan step.json --budget 60%           what a budget would come to\n"
    "\nThe step is trained without a budget. An op belongs to the layer whose parameters it takes, "
    "or\n"
    "whose gradients it computes; one without parameters to the layer before it. On a CPU the time "
    "is\n"
    "the host's; what the device takes is guessed from the bytes there.";

struct ProfileChoice : RunChoice {
  std::string output;
};

std::string trace_text(const Trace& trace, const std::string& path) {
  return path.ends_with(".json") ? trace::print_json(trace) : trace::print_text(trace);
}

std::string text_of(const train::Profile& profile, const Style& style) {
  const Machine machine = machine_named(kMachine);
  return base::concat(facts_text(profile.trace, trace_facts(profile.trace, machine), style),
                      "\nthe step took ", base::format_seconds(profile.step_seconds),
                      ", watched\n\n", profile_text(profile.trace, machine, style));
}

nlohmann::json json_of(const train::Profile& profile, const train::TrainingOptions& training) {
  const Machine machine = machine_named(kMachine);
  nlohmann::json json = facts_json(profile.trace, trace_facts(profile.trace, machine));
  json.update(profile_json(profile.trace, machine));
  json.update({{"model", training.model},
               {"data", training.data},
               {"device", training.device},
               {"batch", training.batch},
               {"optimizer", training.optimizer},
               {"step_seconds", profile.step_seconds}});
  return json;
}

ExitCode run_profile(const CLI::App& verb, const ProfileChoice& choice, Console& console) {
  const bool is_piped = choice.output == "-";
  if (is_piped && choice.json) {
    throw UsageError("--json and -o - would both go to standard output; name a file");
  }
  train::TrainingOptions training = resolve(verb, choice).training;
  // Before anything is trained.
  if (!choice.output.empty() && !is_piped) require_writable(choice.output);
  std::optional<train::Profile> profile;
  run_with_progress(console, training.batch,
                    [&](const train::Hooks& hooks) { profile = train::profile(training, hooks); });
  if (!profile) return stopped_before_recording(console);
  if (!choice.output.empty()) {
    put_output(choice.output, trace_text(profile->trace, choice.output), console);
  }
  std::ostream& out = is_piped ? console.err : console.out;
  out << (choice.json ? json_text(json_of(*profile, training)) : text_of(*profile, console.style));
  return ExitCode::kDone;
}

}  // namespace

Verb add_profile(CLI::App& program) {
  auto choice = std::make_shared<ProfileChoice>();
  CLI::App* verb = program.add_subcommand(
      "profile", "Record a step of a training, and show what takes memory and time");
  add_model_options(*verb, *choice);
  add_weights_option(*verb, *choice);
  add_batch_option(*verb, *choice);
  add_output_option(*verb, choice->output,
                    "Write the step here, for 'lowtide plan' and the like: as JSON if FILE ends in "
                    ".json, else as text");
  add_json_option(*verb, choice->json);
  verb->footer(kExamples);
  return Verb{verb,
              [verb, choice](Console& console) { return run_profile(*verb, *choice, console); }};
}

}  // namespace lowtide::cli
