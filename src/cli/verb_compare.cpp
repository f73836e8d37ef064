// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>

#include "base/check.h"
#include "cli/comparison_run.h"
#include "cli/inputs.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace lowtide::cli {
namespace {

struct CompareOptions : ComparisonOptions {
  std::vector<std::string> traces;
  std::string machine = "h200";
  bool is_measured = false;
};

constexpr const char* kMeasure = "--measure";

constexpr const char* kExamples =
    "\nExamples:\n"
    "  lowtide compare step.trace --budget 80%,60%,40%\n"
    "  lowtide compare a.trace b.trace --budget 8GiB --policy capuchin,dtr\n"
    "  lowtide compare step.trace --budgets 90%,70%,50% --html policies.html --csv policies.csv\n"
    "  lowtide compare step.trace --budget 60% --json\n"
    "  lowtide compare small_resnet --budgets 80%,60%                 of a model: a step of it is\n"
    "                                                                 recorded first\n"
    "  lowtide compare small_resnet --measure --budgets 80%,60%,40%   train a model for real\n"
    "  lowtide compare --measure --help                               what that takes\n"
    "\nThe quickest plan for each budget comes first, with a star. The exit code is 3 if not a "
    "single\n"
    "plan fits.";

// A word that is no file is meant as a model, of which this program knows nothing.
bool is_model(const std::string& name) {
  const bool is_word = std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
  return is_word && !name.empty() && !std::filesystem::exists(name);
}

ExitCode run_compare(const CompareOptions& options, Console& console) {
  if (!options.svg.empty() && options.traces.size() > 1) {
    throw UsageError("--svg draws one step; give one TRACE, or use --html");
  }
  ComparisonRun run(options);
  std::vector<std::string> inputs = options.traces;
  inputs.push_back(options.machine);
  require_one_stdin(inputs);
  require_apart(inputs, {options.csv, options.svg, options.html});
  const Machine machine = load_machine(options.machine, console.in);
  for (const std::string& path : options.traces) {
    run.add(PlainStep(load_trace(path, console.in), machine), console);
  }
  return run.finish(console);
}

}  // namespace

void hand_over_compare(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != "compare") return;
  const std::vector<std::string> own(arguments.begin() + 1, arguments.end());
  const bool is_measured = std::find(own.begin(), own.end(), kMeasure) != own.end();
  if (is_measured) run_torch_program("compare", own);
  if (own.empty() || !is_model(own.front())) return;
  try {
    run_torch_program("compare", own);
  } catch (const Error& error) {
    throw Error(base::concat("there is no file ", own.front(),
                             ", and for a model of that name: ", error.what()));
  }
}

Verb add_compare(CLI::App& program) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* verb = program.add_subcommand("compare", "Set policies side by side under budgets");
  verb->add_option("TRACE", options->traces,
                   "Recorded steps: text, JSON or logs of DTR's; or the name of a model")
      ->required()
      ->type_name("");
  add_comparison_options(*verb, *options);
  add_machine_option(*verb, options->machine);
  // Only for the help: with it, the other program does all of this.
  verb->add_flag(kMeasure, options->is_measured, "Train a model for real instead of a TRACE");
  verb->footer(kExamples);
  return Verb{verb, [options](Console& console) { return run_compare(*options, console); }};
}

}  // namespace lowtide::cli
