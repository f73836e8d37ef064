// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// No two steps alike: what was learnt from one must not be taken for the next.
#include <gtest/gtest.h>

#include "torch/compare.h"
#include "torch/device.h"

namespace lowtide::torch_test {
namespace {

class VaryingLengths : public testing::TestWithParam<Means> {};

TEST_P(VaryingLengths, GiveThePlainBitsOverTwoHundredSteps) {
  LT_SKIP_IF(why_skip());
  expect_identical(program("embedding_lengths_vary"), 200, 50, options_for(0, GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Means, VaryingLengths,
                         testing::Values(Means::kRecompute, Means::kHost, Means::kMixed),
                         [](const auto& row) { return name_of(row.param); });

}  // namespace
}  // namespace lowtide::torch_test
