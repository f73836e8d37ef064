// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string_view>

#include "cli/command_line.h"
#include "cli/torch/verbs.h"

int main(int argument_count, char** arguments) {
  // One verb with two sets of options, as those who type it see it.
  const bool is_measured = std::find(arguments, arguments + argument_count,
                                     std::string_view("--measure")) != arguments + argument_count;
  const lowtide::cli::Program program = {
      .version = LT_VERSION,
      .about = "Trains models inside a memory budget.",
      .examples =
          "  lowtide train small_resnet --budget 40%\n"
          "  lowtide verify small_resnet --budget 40% --steps 10\n"
          "  lowtide profile small_resnet -o step.json\n"
          "  lowtide max-batch small_resnet --budget 200MiB\n"
          "  lowtide compare small_resnet --measure --budgets 80%,60%,40%\n"
          "  lowtide decompose small_resnet --budget 60% --max-accuracy-loss 1\n"
          "  lowtide estimate resnet50 --batch 64 --gpu rtx4090\n"
          "  lowtide doctor\n"
          "  lowtide models\n",
      .verbs = {lowtide::cli::add_train, lowtide::cli::add_verify, lowtide::cli::add_profile,
                lowtide::cli::add_max_batch,
                is_measured ? lowtide::cli::add_measured_compare : lowtide::cli::add_compare_plans,
                lowtide::cli::add_decompose, lowtide::cli::add_estimate, lowtide::cli::add_doctor,
                lowtide::cli::add_models}};
  return lowtide::cli::run_process(argument_count, arguments, program);
}
