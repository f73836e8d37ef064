// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/batches.h"

#include <set>

#include <gtest/gtest.h>

#include "lowtide/errors.h"

namespace lowtide::zoo {
namespace {

TEST(Batches, HaveEachExampleOnceAnEpoch) {
  Batches batches(20, 5, 1);
  ASSERT_EQ(batches.steps_an_epoch(), 4);
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    std::set<std::int64_t> seen;
    for (std::int64_t i = 0; i < 4; ++i) {
      for (const std::int64_t number : batches.at(4 * epoch + i)) seen.insert(number);
    }
    EXPECT_EQ(seen.size(), 20U) << epoch;
    EXPECT_EQ(*seen.rbegin(), 19) << epoch;
  }
}

TEST(Batches, FollowFromStepAndSeedAlone) {
  Batches in_order(1000, 30, 7);
  std::vector<std::vector<std::int64_t>> wanted;
  for (std::int64_t step = 0; step < 100; ++step) wanted.push_back(in_order.at(step));
  for (const std::int64_t step : {99, 0, 33, 34, 98}) {
    EXPECT_EQ(Batches(1000, 30, 7).at(step), wanted[static_cast<std::size_t>(step)]) << step;
  }
  EXPECT_NE(Batches(1000, 30, 8).at(0), wanted[0]);
}

TEST(Batches, AreInAnotherOrderEveryEpoch) {
  Batches batches(1000, 1000, 1);
  EXPECT_NE(batches.at(0), batches.at(1));
  EXPECT_NE(batches.at(1), Batches(1000, 1000, 2).at(0));
}

TEST(Batches, ThatTheDataDoesNotFillAreRefused) {
  EXPECT_THROW(Batches(9, 10, 1), InvalidInput);
  EXPECT_THROW(Batches(9, 0, 1), InvalidInput);
}

}  // namespace
}  // namespace lowtide::zoo
