// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/words.h"
#include "cli/comparison.h"
#include "cli/inputs.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace lowtide::cli {
namespace {

struct CompareOptions {
  std::vector<std::string> traces;
  std::string machine = "h200";
  std::string budgets;
  std::vector<std::string> policies;
  bool is_measured = false;
  bool json = false;
};

constexpr const char* kMeasure = "--measure";

constexpr const char* kExamples =
    "\nExamples:\n"
    "  lowtide compare step.trace --budget 80%,60%,40%\n"
    "  lowtide compare a.trace b.trace --budget 8GiB --policy capuchin,dtr\n"
    "  lowtide compare step.trace --budget 60% --json\n"
    "  lowtide compare small_resnet --measure --budgets 80%,60%,40%   train a model for real\n"
    "  lowtide compare --measure --help                               what that takes\n"
    "\nThe quickest plan for each budget is marked with a star. The exit code is 3 if not a "
    "single\n"
    "plan fits.";

// A word that is no file may well be meant as a model, of which this program knows nothing.
void require_no_model(const std::string& name) {
  const bool is_word = std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
  if (!is_word || std::filesystem::exists(name)) return;
  throw IoError(base::concat(
      "cannot read ", name, ": No such file or directory; if it is a model, add ", kMeasure,
      " to train it, or record a step first: lowtide profile ", name, " -o ", name, ".trace"));
}

std::vector<Planner> planners_from(const std::vector<std::string>& names) {
  std::vector<Planner> planners;
  planners.reserve(names.size());
  for (const std::string& name : names) planners.push_back(make_planner(name, {}));
  if (!planners.empty()) return planners;
  for (const PolicyInfo& info : catalogue()) planners.push_back(make_planner(info.name, {}));
  return planners;
}

std::vector<std::string> budgets_from(const std::string& text) {
  std::vector<std::string> budgets;
  for (const std::string_view budget : base::split_on(text, ',')) {
    budget_from(budget, 0);  // a bad one should not wait for its turn
    budgets.emplace_back(budget);
  }
  return budgets;
}

ExitCode run_compare(const CompareOptions& options, Console& console) {
  const std::vector<Planner> planners = planners_from(options.policies);
  const std::vector<std::string> budgets = budgets_from(options.budgets);
  std::vector<std::string> inputs = options.traces;
  for (const std::string& path : inputs) require_no_model(path);
  inputs.push_back(options.machine);
  require_one_stdin(inputs);
  const Machine machine = load_machine(options.machine, console.in);

  nlohmann::json documents = nlohmann::json::array();
  bool any_fits = false;
  for (const std::string& path : options.traces) {
    const PlainStep step(load_trace(path, console.in), machine);
    const std::vector<ComparedPlan> plans = compare(step, planners, budgets, console);
    any_fits = any_fits || std::any_of(plans.begin(), plans.end(),
                                       [](const ComparedPlan& plan) { return !plan.refusal; });
    if (options.json) {
      documents.push_back(comparison_json(step, plans));
    } else {
      console.out << (path == options.traces.front() ? "" : "\n")
                  << comparison_text(step, plans, console.style);
    }
  }
  if (options.json) console.out << nlohmann::json{{"comparisons", documents}}.dump(1) << "\n";
  if (any_fits) return ExitCode::kDone;
  print_error(console.err, "no policy fits any of the budgets; the table names the smallest ones");
  return ExitCode::kDoesNotFit;
}

}  // namespace

void hand_over_compare(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != "compare") return;
  const std::vector<std::string> own(arguments.begin() + 1, arguments.end());
  if (std::find(own.begin(), own.end(), kMeasure) != own.end()) run_torch_program("compare", own);
  // Before an option of trainings is found to be unknown.
  if (!own.empty()) require_no_model(own.front());
}

Verb add_compare(CLI::App& program) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* verb = program.add_subcommand("compare", "Set policies side by side under budgets");
  verb->add_option("TRACE", options->traces, "Recorded steps: text, JSON or logs of DTR's")
      ->required()
      ->type_name("");
  add_budgets_option(*verb, options->budgets)->required();
  verb->add_option("--policy,-p", options->policies, "Only these (default: all)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  add_machine_option(*verb, options->machine);
  // Only for the help: with it, the other program does all of this.
  verb->add_flag(kMeasure, options->is_measured, "Train a model for real instead of a TRACE");
  add_json_option(*verb, options->json);
  verb->footer(kExamples);
  return Verb{verb, [options](Console& console) { return run_compare(*options, console); }};
}

}  // namespace lowtide::cli
