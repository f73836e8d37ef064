// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// The programs themselves, without any session: what the other tests compare with must be the same
// each time, must train, and must be of a size that a budget can bite on.
#include <cstdio>
#include <set>

#include <gtest/gtest.h>

#include "torch/device.h"
#include "torch/meter.h"
#include "torch/plain_run.h"
#include "torch/programs/throwing.h"

namespace lowtide::torch_test {
namespace {

constexpr int kSteps = 10;

class EveryProgram : public testing::TestWithParam<Program> {};

TEST_P(EveryProgram, GivesTheSameBitsEachTime) {
  const Program& program = GetParam();
  LT_SKIP_IF(why_skip(program));
  install_meter();
  const PlainRun first = run_plainly(program, kSteps);
  const std::int64_t before = metered_bytes();
  reset_metered_peak();
  const PlainRun second = run_plainly(program, kSteps);
  const std::int64_t peak = metered_peak_bytes() - before;
  EXPECT_EQ(first_difference(first, second), std::nullopt);
  // On a GPU the meter, which counts the CPU's bytes, says nothing of interest.
  std::printf("%-28s %8.2f ms a step %8.2f MiB peak\n", program.name.c_str(),
              1e3 * second.step_seconds, static_cast<double>(peak) / (1 << 20));
}

TEST_P(EveryProgram, MovesItsParametersInEachStep) {
  const Program& program = GetParam();
  LT_SKIP_IF(why_skip(program));
  const PlainRun run = run_plainly(program, 3);
  for (std::size_t i = 1; i < run.states.size(); ++i) {
    EXPECT_NE(first_difference(run.states[i - 1], run.states[i]), std::nullopt) << "step " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, EveryProgram, testing::ValuesIn(programs()), name_of_program);

INSTANTIATE_TEST_SUITE_P(ThrowingPrograms, EveryProgram,
                         testing::Values(throwing_program(ThrowsIn::kForward),
                                         throwing_program(ThrowsIn::kBackward)),
                         name_of_program);

TEST(Programs, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const Program& each : programs()) EXPECT_TRUE(names.insert(each.name).second) << each.name;
}

}  // namespace
}  // namespace lowtide::torch_test
