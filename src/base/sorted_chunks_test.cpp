// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "base/sorted_chunks.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"

namespace lowtide::base {
namespace {

std::vector<int> listed(const SortedChunks<int>& chunks) {
  std::vector<int> keys;
  for (const int key : chunks) keys.push_back(key);
  return keys;
}

TEST(SortedChunks, NothingIsFoundInAnEmptyOne) {
  SortedChunks<int> chunks;
  EXPECT_EQ(chunks.begin(), chunks.end());
  EXPECT_EQ(chunks.lower_bound(1), chunks.end());
  chunks.insert(1);
  chunks.erase(1);
  EXPECT_TRUE(chunks.empty());
  EXPECT_EQ(chunks.lower_bound(1), chunks.end());
}

TEST(SortedChunks, LowerBoundIsTheFirstKeyThatIsNotLess) {
  SortedChunks<int> chunks;
  for (const int key : {30, 10, 20}) chunks.insert(key);
  EXPECT_EQ(*chunks.lower_bound(10), 10);
  EXPECT_EQ(*chunks.lower_bound(11), 20);
  EXPECT_EQ(chunks.lower_bound(31), chunks.end());
}

TEST(SortedChunks, WhatWasFoundCanBeErasedWithoutAnotherSearch) {
  SortedChunks<int> chunks;
  for (const int key : {30, 10, 20}) chunks.insert(key);
  chunks.erase(chunks.lower_bound(11));
  EXPECT_EQ(listed(chunks), (std::vector<int>{10, 30}));
}

// Grows to many chunks and shrinks to none, each key at random.
TEST(SortedChunks, HoldsWhatASetHolds) {
  Random random(7);
  SortedChunks<int> chunks;
  std::set<int> set;
  for (int step = 0; step < 20000; ++step) {
    const int key = static_cast<int>(random.below(2000));
    const bool grows = step < 10000 ? random.below(4) > 0 : random.below(4) == 0;
    if (grows && set.insert(key).second) chunks.insert(key);
    if (!grows && set.erase(key) > 0) chunks.erase(key);
    const auto expected = set.lower_bound(key);
    const auto found = chunks.lower_bound(key);
    ASSERT_EQ(found == chunks.end(), expected == set.end());
    if (expected == set.end()) continue;
    ASSERT_EQ(*found, *expected);
  }
  EXPECT_EQ(listed(chunks), std::vector<int>(set.begin(), set.end()));
  for (const int key : set) chunks.erase(key);
  EXPECT_TRUE(chunks.empty());
}

}  // namespace
}  // namespace lowtide::base
