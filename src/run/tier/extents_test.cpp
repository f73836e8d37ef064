// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/tier/extents.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace lowtide::tier {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kBlock = Extents::kBlockBytes;

TEST(Extents, GivesWholeBlocksOneAfterAnother) {
  Extents extents(10 * kBlock);
  EXPECT_THAT(extents.allocate(100), ElementsAre(Extent{0, kBlock}));
  EXPECT_THAT(extents.allocate(kBlock + 1), ElementsAre(Extent{kBlock, 2 * kBlock}));
  EXPECT_THAT(extents.allocate(0), ElementsAre(Extent{3 * kBlock, kBlock}));
  EXPECT_EQ(extents.held_bytes(), 4 * kBlock);
}

TEST(Extents, RefusesWhatIsMoreThanTheCap) {
  Extents extents(4 * kBlock + 17);
  EXPECT_THAT(extents.allocate(5 * kBlock), IsEmpty());
  EXPECT_THAT(extents.allocate(std::numeric_limits<std::int64_t>::max()), IsEmpty());
  EXPECT_THAT(extents.allocate(4 * kBlock + 1), IsEmpty());
  const auto all = extents.allocate(4 * kBlock);
  EXPECT_THAT(extents.allocate(1), IsEmpty());
  extents.free(all);
  EXPECT_EQ(extents.held_bytes(), 0);
  EXPECT_EQ(extents.peak_bytes(), 4 * kBlock);
  EXPECT_THAT(extents.allocate(1), ElementsAre(Extent{0, kBlock}));
}

TEST(Extents, TakesTheSmallestStretchThatIsLargeEnough) {
  Extents extents(100 * kBlock);
  const auto large = extents.allocate(5 * kBlock);
  extents.allocate(1);
  const auto small = extents.allocate(2 * kBlock);
  extents.allocate(1);
  extents.free(large);
  extents.free(small);
  EXPECT_THAT(extents.allocate(2 * kBlock), ElementsAre(small.front()));
}

TEST(Extents, JoinsNeighboursThatAreFree) {
  Extents extents(100 * kBlock);
  const auto a = extents.allocate(kBlock);
  const auto b = extents.allocate(kBlock);
  const auto c = extents.allocate(kBlock);
  extents.allocate(kBlock);
  extents.free(a);
  extents.free(c);
  extents.free(b);
  EXPECT_THAT(extents.allocate(3 * kBlock), ElementsAre(Extent{0, 3 * kBlock}));
}

TEST(Extents, GivesSeveralStretchesRatherThanNone) {
  Extents extents(5 * kBlock);
  const auto a = extents.allocate(kBlock);
  extents.allocate(kBlock);
  const auto c = extents.allocate(kBlock);
  extents.allocate(kBlock);
  extents.free(a);
  extents.free(c);
  EXPECT_THAT(extents.allocate(3 * kBlock),
              ElementsAre(a.front(), c.front(), Extent{4 * kBlock, kBlock}));
  EXPECT_EQ(extents.held_bytes(), 5 * kBlock);
}

TEST(Extents, NoBlockIsEverGivenTwice) {
  constexpr std::uint64_t kSeed = 11;
  constexpr std::int64_t kBlocks = 64;
  base::Random random(kSeed);
  Extents extents(kBlocks * kBlock);
  std::vector<std::vector<Extent>> out;
  std::vector<int> users(kBlocks);
  const auto count = [&](const std::vector<Extent>& given, int change) {
    for (const Extent& extent : given) {
      for (std::int64_t b = extent.offset; b < extent.offset + extent.bytes; b += kBlock) {
        users[static_cast<std::size_t>(b / kBlock)] += change;
      }
    }
  };
  for (int i = 0; i < 5000; ++i) {
    if (!out.empty() && random.below(2) == 0) {
      const std::size_t victim = random.below(out.size());
      count(out[victim], -1);
      extents.free(out[victim]);
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(victim));
    } else if (auto given = extents.allocate(static_cast<std::int64_t>(random.below(9 * kBlock)));
               !given.empty()) {
      count(given, 1);
      out.push_back(std::move(given));
    }
    ASSERT_THAT(users, testing::Each(testing::AnyOf(0, 1))) << "round " << i;
    ASSERT_EQ(extents.held_bytes(), kBlock * std::count(users.begin(), users.end(), 1));
  }
}

}  // namespace
}  // namespace lowtide::tier
