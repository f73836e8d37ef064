// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/union_find.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace lowtide::solve {
namespace {

TEST(WeightedUnionFind, AClassWeighsAsMuchAsItsMembersTogether) {
  WeightedUnionFind classes;
  const std::int32_t a = classes.make(1);
  const std::int32_t b = classes.make(2);
  const std::int32_t c = classes.make(4);
  classes.unite(a, c);
  EXPECT_EQ(classes.find(a), classes.find(c));
  EXPECT_NE(classes.find(a), classes.find(b));
  EXPECT_EQ(classes.weight(a), 5);
  EXPECT_EQ(classes.weight(b), 2);
  // Uniting what is one class already does not count twice.
  classes.unite(c, a);
  EXPECT_EQ(classes.weight(c), 5);
}

TEST(WeightedUnionFind, AClassNeverWeighsLessThanNothing) {
  WeightedUnionFind classes;
  const std::int32_t a = classes.make(1);
  classes.add_weight(a, -3);
  EXPECT_EQ(classes.weight(a), 0);
  classes.add_weight(a, 2);
  EXPECT_EQ(classes.weight(a), 2);
}

RC_GTEST_PROP(WeightedUnionFind, AnswersAsListsOfMembersDo, ()) {
  const auto size = *rc::gen::inRange<std::size_t>(1, 30);
  WeightedUnionFind classes;
  // By element: the number of its class; by class: its weight.
  std::vector<std::size_t> class_of;
  std::vector<double> weight;
  for (std::size_t i = 0; i < size; ++i) {
    weight.push_back(*rc::gen::inRange(0, 10));
    class_of.push_back(i);
    RC_ASSERT(classes.make(weight.back()) == static_cast<std::int32_t>(i));
  }
  for (int step = 0; step < 40; ++step) {
    const auto a = *rc::gen::inRange<std::size_t>(0, size);
    const auto b = *rc::gen::inRange<std::size_t>(0, size);
    classes.unite(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b));
    const std::size_t from = class_of[b];
    const std::size_t to = class_of[a];
    if (from != to) weight[to] += weight[from];
    std::replace(class_of.begin(), class_of.end(), from, to);
    for (std::size_t i = 0; i < size; ++i) {
      const auto element = static_cast<std::int32_t>(i);
      RC_ASSERT(classes.weight(element) == weight[class_of[i]]);
      RC_ASSERT((classes.find(element) == classes.find(0)) == (class_of[i] == class_of[0]));
    }
  }
}

}  // namespace
}  // namespace lowtide::solve
