// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/console.h"
#include "cli/step.h"

// Options that several verbs share, so that they read and mean the same everywhere.

namespace lowtide::cli {

struct StepOptions {
  std::string trace;
  std::string machine = "h200";
  bool json = false;
};

struct PolicyChoice {
  // Empty: kDefaultPolicy.
  std::string name;
  std::vector<std::string> options;
  double think_seconds = 0;

  Planner planner() const {
    Planner planner = make_planner(name.empty() ? kDefaultPolicy : name, options);
    planner.think_seconds = think_seconds;
    return planner;
  }
};

void add_json_option(CLI::App& verb, bool& json);
void add_machine_option(CLI::App& verb, std::string& machine);
// TRACE, --machine and --json.
void add_step_options(CLI::App& verb, StepOptions& options);
CLI::Option* add_budget_option(CLI::App& verb, std::string& budget, const char* placeholder);
// Several, with commas.
CLI::Option* add_budgets_option(CLI::App& verb, std::string& budgets);
// --think: after how long a search ends.
void add_think_option(CLI::App& verb, double& seconds);
void add_policy_options(CLI::App& verb, PolicyChoice& choice);
CLI::Option* add_output_option(CLI::App& verb, std::string& path, const char* help);

PlainStep load_step(const StepOptions& options, Console& console);

// Standard input can be read once. Throws UsageError if more than one of these is "-".
void require_one_stdin(const std::vector<std::string>& paths);

// Throws UsageError if one file is to be written twice, or is read as well. Neither "" nor "-" is a
// file, and what is no plain file (/dev/null, a pipe) may be named as often as one likes.
void require_apart(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);

// Puts text to where -o says: a file, or standard output for "" and "-".
void put_output(const std::string& path, const std::string& text, Console& console);

}  // namespace lowtide::cli
