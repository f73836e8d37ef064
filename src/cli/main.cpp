// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/command_line.h"

int main(int argument_count, char** arguments) {
  return lowtide::cli::run_process(argument_count, arguments,
                                   lowtide::cli::planning_program(LT_VERSION));
}
