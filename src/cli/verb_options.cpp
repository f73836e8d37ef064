// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/verb_options.h"

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "cli/exit_code.h"
#include "cli/inputs.h"
#include "cli/option_checks.h"
#include "cli/output_file.h"

namespace lowtide::cli {
namespace {

constexpr const char* kBudgetHelp =
    "Device memory to stay within: 8GiB, 1.5GiB, 512MiB, or 60% (of the plain peak)";

// Some thirty years: as good as for ever.
constexpr double kLongestThought = 1e9;

namespace fs = std::filesystem;

// Whether both paths name one plain file that is there.
bool are_one_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return fs::is_regular_file(a, error) && fs::is_regular_file(b, error) &&
         fs::equivalent(a, b, error);
}

// The same of files that are written, and need not be there yet.
bool will_be_one_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (fs::exists(a, error)) return are_one_file(a, b);
  const auto whole = [&](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(path, error), error);
  };
  return whole(a) == whole(b);
}

}  // namespace

void add_json_option(CLI::App& verb, bool& json) {
  verb.add_flag("--json", json, "Print one JSON document on standard output");
}

void add_machine_option(CLI::App& verb, std::string& machine) {
  verb.add_option("--machine", machine,
                  "Where the step runs: h200, pcie4, unit or a JSON file (default: h200)")
      ->type_name("NAME|FILE");
}

void add_step_options(CLI::App& verb, StepOptions& options) {
  verb.add_option("TRACE", options.trace,
                  "A recorded step: text, JSON or a log of DTR's; - for standard input")
      ->required()
      ->check(not_empty())
      ->type_name("");
  add_machine_option(verb, options.machine);
  add_json_option(verb, options.json);
}

CLI::Option* add_budget_option(CLI::App& verb, std::string& budget, const char* placeholder) {
  return verb.add_option("--budget,-b", budget, kBudgetHelp)->type_name(placeholder);
}

CLI::Option* add_budgets_option(CLI::App& verb, std::string& budgets) {
  return verb.add_option("--budget,--budgets,-b", budgets, kBudgetHelp)->type_name("SIZE,...");
}

void add_think_option(CLI::App& verb, double& seconds) {
  verb.add_option("--think", seconds,
                  "Have policies that search take their best plan after so long (default: when "
                  "they are through, which depends on no clock)")
      ->check(positive_number(kLongestThought))
      ->type_name("SECONDS");
}

void add_policy_options(CLI::App& verb, PolicyChoice& choice) {
  verb.add_option(
          "--policy,-p", choice.name,
          std::string("Who plans; 'lowtide policies' lists them (default: ") + kDefaultPolicy + ")")
      ->type_name("NAME");
  verb.add_option("--option", choice.options,
                  "An option of the policy; 'lowtide policies NAME' lists them")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  add_think_option(verb, choice.think_seconds);
}

CLI::Option* add_output_option(CLI::App& verb, std::string& path, const char* help) {
  return verb.add_option("--output,-o", path, help)->check(not_empty())->type_name("FILE");
}

PlainStep load_step(const StepOptions& options, Console& console) {
  require_one_stdin({options.trace, options.machine});
  Machine machine = load_machine(options.machine, console.in);
  return PlainStep(load_trace(options.trace, console.in), std::move(machine));
}

void require_one_stdin(const std::vector<std::string>& paths) {
  if (std::count(paths.begin(), paths.end(), "-") > 1) {
    throw UsageError("standard input can be read only once; give all but one as files");
  }
}

void require_apart(const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs) {
  std::vector<std::string> seen;
  for (const std::string& output : outputs) {
    if (output.empty() || output == "-") continue;
    const auto is_output = [&](const std::string& path) { return are_one_file(output, path); };
    if (std::any_of(inputs.begin(), inputs.end(), is_output)) {
      throw UsageError(output + " is read, and would be written over; name another file");
    }
    const auto is_the_same = [&](const std::string& path) {
      return will_be_one_file(output, path);
    };
    if (std::any_of(seen.begin(), seen.end(), is_the_same)) {
      throw UsageError(output + " would be written twice; name two files");
    }
    seen.push_back(output);
  }
}

void put_output(const std::string& path, const std::string& text, Console& console) {
  if (path.empty() || path == "-") {
    console.out << text;
  } else {
    write_output_file(path, text);
  }
}

}  // namespace lowtide::cli
