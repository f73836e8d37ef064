// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/verbs.h"

namespace lowtide::cli {

// What the two programs differ in: the one that plans, and the one that trains, which has torch in
// it and which the first runs for the verbs that need it. To users they are one.
struct Program {
  std::string version;
  const char* about = "";
  const char* examples = "";
  std::vector<AddVerb> verbs;
  // Sees the arguments before they are parsed, and may give them to the other program: then it does
  // not return.
  void (*hand_over)(const std::vector<std::string>& arguments) = nullptr;
};

// The program `lowtide`.
Program planning_program(std::string version);

// The whole program but for its process: parses the arguments (without the program's name), runs
// the verb and turns what it throws into a one-line message and an exit code. Never throws.
ExitCode run_command(const std::vector<std::string>& arguments, const Program& program,
                     Console& console);

// run_command on the streams of the process. Results reach standard output in one piece when the
// verb is done; that they cannot be written is a failure too, but for a reader that went away.
int run_process(int argument_count, char** arguments, const Program& program);

}  // namespace lowtide::cli
