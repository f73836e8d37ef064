// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/console.h"
#include "cli/exit_code.h"

namespace lowtide::cli {

// One verb of the command line. The arguments are parsed into something that `run` holds; it is
// called afterwards, once, and reports trouble by throwing (see exit_code.h for what means what).
struct Verb {
  CLI::App* app = nullptr;
  std::function<ExitCode(Console&)> run;
};

// Adds a verb, with options, help and examples, to the program.
using AddVerb = Verb (*)(CLI::App& program);

Verb add_policies(CLI::App& program);
Verb add_plan(CLI::App& program);
Verb add_simulate(CLI::App& program);
Verb add_compare(CLI::App& program);
Verb add_check(CLI::App& program);
Verb add_report(CLI::App& program);

// The verbs that need torch, as `lowtide` has them: each runs the other program.
std::vector<AddVerb> torch_verbs();

// Becomes the other program; returns only by throwing.
[[noreturn]] void run_torch_program(const std::string& verb, std::vector<std::string> arguments);

// `compare` of a model, with `--measure` or without, is the other program's: goes over to it if
// these are its arguments.
void hand_over_compare(const std::vector<std::string>& arguments);

}  // namespace lowtide::cli
