// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/exit_code.h"

namespace lowtide::cli {

// The whole program but for its process: parses the arguments (without the program's name), runs
// the verb and turns what it throws into a one-line message and an exit code. Never throws.
ExitCode run_command(const std::vector<std::string>& arguments, const std::string& version,
                     Console& console);

// run_command on the streams of the process. Results reach standard output in one piece when the
// verb is done; that they cannot be written is a failure too, but for a reader that went away.
int run_process(int argument_count, char** arguments, const std::string& version);

}  // namespace lowtide::cli
