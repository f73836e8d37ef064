// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// The first two promises: every program, inside a budget, gives the bits that it gives without, and
// never holds more than the budget.
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "torch/compare.h"
#include "torch/device.h"

namespace lowtide::torch_test {
namespace {

constexpr int kSteps = 10;

// Programs come first, so that those of one program run in a row and share its reference.
using Case = std::tuple<Program, int, Means>;

class InsideABudget : public testing::TestWithParam<Case> {};

TEST_P(InsideABudget, GivesTheBitsOfThePlainRun) {
  const auto& [program, share_percent, means] = GetParam();
  LT_SKIP_IF(why_skip(program));
  expect_identical(program, kSteps, share_percent, options_for(0, means));
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  const auto& [program, share_percent, means] = info.param;
  return program.name + "_" + std::to_string(share_percent) + "_percent_" + name_of(means);
}

// Sanitizers make all this several times slower, and look at how it is done, not at the numbers.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
const auto kShares = testing::Values(40);
const auto kMeans = testing::Values(Means::kRecompute, Means::kMixed);
#else
const auto kShares = testing::Values(80, 60, 40, 30);
const auto kMeans = testing::Values(Means::kRecompute, Means::kHost, Means::kMixed);
#endif

INSTANTIATE_TEST_SUITE_P(Programs, InsideABudget,
                         testing::Combine(testing::ValuesIn(programs()), kShares, kMeans),
                         name_of_case);

}  // namespace
}  // namespace lowtide::torch_test
