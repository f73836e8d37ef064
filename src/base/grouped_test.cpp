// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "base/grouped.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lowtide::base {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Grouped, ListsKeepTheOrderOfTheirItems) {
  const Grouped<int> lists(4, {{2, 10}, {0, 11}, {2, 12}, {3, 13}, {2, 9}});
  EXPECT_THAT(lists[0], ElementsAre(11));
  EXPECT_THAT(lists[1], IsEmpty());
  EXPECT_THAT(lists[2], ElementsAre(10, 12, 9));
  EXPECT_THAT(lists[3], ElementsAre(13));
}

TEST(Grouped, WithoutItemsEveryListIsEmpty) {
  const Grouped<int> lists(3, {});
  EXPECT_THAT(lists[0], IsEmpty());
  EXPECT_THAT(lists[2], IsEmpty());
}

TEST(Grouped, AWalkGivesTheSameListsAsItsItems) {
  const Grouped<int> lists = Grouped<int>::from_walk(3, [](auto add) {
    add(1, 10);
    add(0, 11);
    add(1, 12);
  });
  EXPECT_THAT(lists[0], ElementsAre(11));
  EXPECT_THAT(lists[1], ElementsAre(10, 12));
  EXPECT_THAT(lists[2], IsEmpty());
}

TEST(Grouped, ListsSurviveAMove) {
  Grouped<int> lists(1, {{0, 1}, {0, 2}});
  const std::span<const int> before = lists[0];
  const Grouped<int> moved = std::move(lists);
  EXPECT_EQ(moved[0].data(), before.data());
}

}  // namespace
}  // namespace lowtide::base
