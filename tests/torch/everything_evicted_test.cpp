// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Every storage that an op used is evicted as soon as the op is done: no op, and no reader that
// goes around the ops, may find one that is not there.
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "torch/compare.h"
#include "torch/device.h"

namespace lowtide::torch_test {
namespace {

// Larger than the state of a generator (5 KB), which torch reads around the dispatcher.
constexpr std::int64_t kSmallFloorBytes = 8 << 10;

using Case = std::tuple<Program, Means>;

class EverythingEvicted : public testing::TestWithParam<Case> {};

TEST_P(EverythingEvicted, GivesTheBitsOfThePlainRun) {
  const auto& [program, means] = GetParam();
  LT_SKIP_IF(why_skip(program));
  if (test_device().is_cuda() && program.name.starts_with("recurrent_") &&
      means != Means::kRecompute) {
    GTEST_SKIP() << "torch's recurrent modules read the addresses of their weights around the "
                    "dispatcher, and say so when those are evicted";
  }
  // Two steps more than it takes until lazily made optimizer states are old.
  const Reference& wanted = reference(program, 4);
  SessionOptions options = options_for(0, means);
  options.evict_everything = true;
  options.floor_bytes = kSmallFloorBytes;
  const ManagedRun run = run_managed(program, options, wanted.run);
  EXPECT_EQ(run.difference, std::nullopt);
  EXPECT_GT(run.stats.evictions, run.stats.steps);
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  return std::get<0>(info.param).name + "_" + name_of(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Programs, EverythingEvicted,
                         testing::Combine(testing::ValuesIn(programs()),
                                          testing::Values(Means::kRecompute, Means::kHost,
                                                          Means::kMixed)),
                         name_of_case);

}  // namespace
}  // namespace lowtide::torch_test
