// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/range_max.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "lowtide/errors.h"

namespace lowtide::solve {
namespace {

TEST(RangeMax, AnEmptyRowHasNoMaximum) { EXPECT_THROW(RangeMax({}), InternalError); }

TEST(RangeMax, AmongEqualsTheFirstPositionIsTheLargest) {
  RangeMax row({1, 5, 2, 5});
  EXPECT_EQ(row.argmax(), 1U);
  row.add(3, 3, 1);
  EXPECT_EQ(row.argmax(), 3U);
  row.add(0, 1, 1);
  EXPECT_EQ(row.argmax(), 1U);
}

TEST(RangeMax, ARangeThatEndsBeforeItBeginsOrLiesOutsideChangesNothing) {
  RangeMax row({1, 2, 3});
  row.add(2, 1, 100);
  row.add(3, 9, 100);
  EXPECT_EQ(row.max(), 3);
  // What reaches beyond the end counts up to it.
  row.add(1, 9, 10);
  EXPECT_EQ(row.max(), 13);
  EXPECT_EQ(row.argmax(), 2U);
}

RC_GTEST_PROP(RangeMax, AnswersAsAPlainArrayDoes, ()) {
  const auto size = *rc::gen::inRange<std::size_t>(1, 70);
  auto naive =
      *rc::gen::container<std::vector<std::int64_t>>(size, rc::gen::inRange<std::int64_t>(-20, 21));
  RangeMax row(naive);
  for (int step = 0; step < 60; ++step) {
    const auto first = *rc::gen::inRange<std::size_t>(0, size + 2);
    const auto last = *rc::gen::inRange<std::size_t>(0, size + 2);
    const auto amount = *rc::gen::inRange<std::int64_t>(-15, 16);
    row.add(first, last, amount);
    for (std::size_t i = first; i <= last && i < size; ++i) naive[i] += amount;
    const auto largest = std::max_element(naive.begin(), naive.end());
    RC_ASSERT(row.max() == *largest);
    RC_ASSERT(row.argmax() == static_cast<std::size_t>(largest - naive.begin()));
  }
}

}  // namespace
}  // namespace lowtide::solve
