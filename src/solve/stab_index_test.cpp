// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/stab_index.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "lowtide/errors.h"

namespace lowtide::solve {
namespace {

TEST(StabIndex, OnlyIntervalsThatCoverThePositionCount) {
  StabIndex index(5);
  index.add(0, 1, 3, 1.0);
  index.add(1, 3, 4, 2.0);
  EXPECT_EQ(index.best(0), std::nullopt);
  EXPECT_EQ(index.best(1), 0);
  EXPECT_EQ(index.best(3), 1);
  EXPECT_EQ(index.best(4), 1);
}

TEST(StabIndex, AmongEqualPrioritiesTheLowestIdWins) {
  StabIndex index(8);
  index.add(7, 0, 7, 1.0);
  index.add(2, 3, 3, 1.0);
  index.add(5, 2, 4, 1.0);
  EXPECT_EQ(index.best(3), 2);
}

TEST(StabIndex, ARemovedIntervalNeverComesUpAgain) {
  StabIndex index(4);
  index.add(0, 0, 3, 9.0);
  index.add(1, 0, 3, 1.0);
  index.lower(0, 8.0);
  index.remove(0);
  EXPECT_EQ(index.best(2), 1);
}

TEST(StabIndex, AnIntervalThatIsLoweredComesUpWhenItsTurnComes) {
  StabIndex index(4);
  index.add(0, 0, 3, 9.0);
  index.add(1, 0, 3, 5.0);
  index.add(2, 2, 2, 3.0);
  index.lower(0, 4.0);
  index.lower(0, 2.0);
  EXPECT_EQ(index.best(2), 1);
  index.remove(1);
  EXPECT_EQ(index.best(2), 2);
  EXPECT_EQ(index.best(1), 0);
  EXPECT_THROW(index.lower(0, 2.5), InternalError);
  EXPECT_THROW(index.lower(1, 0.0), InternalError);
}

TEST(StabIndex, AnIntervalThatIsFiledTwiceOrLiesOutsideIsAnError) {
  StabIndex index(4);
  index.add(0, 0, 3, 1.0);
  EXPECT_THROW(index.add(0, 1, 1, 1.0), InternalError);
  EXPECT_THROW(index.add(1, 2, 1, 1.0), InternalError);
  EXPECT_THROW(index.add(1, 0, 4, 1.0), InternalError);
}

// What StabIndex promises, without a tree.
struct NaiveIntervals {
  struct Interval {
    std::size_t first = 0;
    std::size_t last = 0;
    double priority = 0;
    bool is_filed = false;
  };

  std::optional<std::int32_t> best(std::size_t position) const {
    std::optional<std::int32_t> found;
    for (std::size_t i = 0; i < intervals.size(); ++i) {
      const Interval& here = intervals[i];
      if (!here.is_filed || position < here.first || here.last < position) continue;
      if (!found || here.priority > intervals[static_cast<std::size_t>(*found)].priority) {
        found = static_cast<std::int32_t>(i);
      }
    }
    return found;
  }

  std::vector<Interval> intervals;
};

RC_GTEST_PROP(StabIndex, AnswersAsAListOfIntervalsDoes, ()) {
  const auto size = *rc::gen::inRange<std::size_t>(1, 40);
  StabIndex index(size);
  NaiveIntervals naive;
  for (int step = 0; step < 80; ++step) {
    const double priority = *rc::gen::inRange(-5, 6);
    const bool is_new = naive.intervals.empty() || *rc::gen::inRange(0, 3) == 0;
    if (is_new) {
      const auto first = *rc::gen::inRange<std::size_t>(0, size);
      const auto last = *rc::gen::inRange<std::size_t>(first, size);
      index.add(static_cast<std::int32_t>(naive.intervals.size()), first, last, priority);
      naive.intervals.push_back({first, last, priority, true});
    } else {
      const auto which = *rc::gen::inRange<std::size_t>(0, naive.intervals.size());
      NaiveIntervals::Interval& chosen = naive.intervals[which];
      if (chosen.is_filed && *rc::gen::inRange(0, 4) == 0) {
        index.remove(static_cast<std::int32_t>(which));
        chosen.is_filed = false;
      } else if (chosen.is_filed) {
        chosen.priority -= *rc::gen::inRange(0, 4);
        index.lower(static_cast<std::int32_t>(which), chosen.priority);
      }
    }
    const auto position = *rc::gen::inRange<std::size_t>(0, size);
    RC_ASSERT(index.best(position) == naive.best(position));
  }
}

}  // namespace
}  // namespace lowtide::solve
