// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "torch/plain_run.h"

#include <algorithm>
#include <ctime>
#include <memory>

#include "torch/device.h"
#include "torch/programs/throwing.h"

namespace lowtide::torch_test {

void take_step(Training& training, int i) {
  try {
    training.step(i);
  } catch (const PlannedFailure&) {
    // The test wants to see what comes after.
  }
}

PlainRun run_plainly(const Program& program, int steps) {
  const at::Device device = test_device();
  const std::unique_ptr<Training> training = program.make(device, kSeed);
  PlainRun result;
  double seconds = 0;
  for (int i = 0; i < steps; ++i) {
    const std::clock_t begin = std::clock();
    take_step(*training, i);
    if (i > 0) seconds += static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    result.states.push_back(take_state(*training, device, {}));
  }
  result.step_seconds = seconds / std::max(1, steps - 1);
  return result;
}

std::optional<std::string> first_difference(const PlainRun& wanted, const PlainRun& got) {
  for (std::size_t i = 0; i < wanted.states.size(); ++i) {
    if (auto found = first_difference(wanted.states[i], got.states.at(i))) {
      return "step " + std::to_string(i) + ": " + *found;
    }
  }
  return std::nullopt;
}

std::string name_of_program(const testing::TestParamInfo<Program>& info) { return info.param.name; }

void PrintTo(const Program& program, std::ostream* out) { *out << program.name; }

}  // namespace lowtide::torch_test
