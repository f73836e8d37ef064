// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "torch/program.h"
#include "torch/snapshot.h"

// Runs of a program without any session: what all others are compared with.

namespace lowtide::torch_test {

inline constexpr std::uint64_t kSeed = 20260101;

struct PlainRun {
  // After each step.
  std::vector<State> states;
  // Mean over the steps after the first, in processor time: other work on the machine does not
  // change that.
  double step_seconds = 0;
};

// A step that throws PlannedFailure counts as done.
PlainRun run_plainly(const Program& program, int steps);

// A step of a program; a PlannedFailure ends it quietly.
void take_step(Training& training, int i);

std::optional<std::string> first_difference(const PlainRun& wanted, const PlainRun& got);

// For INSTANTIATE_TEST_SUITE_P.
std::string name_of_program(const testing::TestParamInfo<Program>& info);

// How GoogleTest shows a program.
void PrintTo(const Program& program, std::ostream* out);

}  // namespace lowtide::torch_test
