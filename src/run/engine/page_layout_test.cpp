// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/page_layout.h"

#include <functional>
#include <numeric>

#include <gtest/gtest.h>

#include "base/random.h"

namespace lowtide::engine {
namespace {

using Runs = PageLayout::Runs;

constexpr std::int64_t kPage = 4;

// Of blocks that all lie at the beginning, so that all but the largest of those that meet must go.
std::vector<Runs> laid_out(const std::vector<RecurringBlock>& blocks, const LayoutSpace& space) {
  std::vector<Runs> now;
  for (const RecurringBlock& block : blocks) now.push_back({{0, block.units}});
  return PageLayout(blocks, now, space).places();
}

TEST(PageLayout, BlocksThatNeverMeetShareAPlace) {
  const auto places = laid_out({{8, 0, 2}, {8, 2, 4}}, {8, kPage, {}});
  EXPECT_EQ(places[0], (Runs{{0, 8}}));
  EXPECT_EQ(places[1], (Runs{{0, 8}}));
}

TEST(PageLayout, BlocksThatMeetDoNot) {
  const auto places = laid_out({{4, 0, 3}, {8, 2, 4}}, {12, kPage, {}});
  EXPECT_EQ(places[1], (Runs{{0, 8}}));
  EXPECT_EQ(places[0], (Runs{{8, 4}}));
}

TEST(PageLayout, WhatIsInNobodysWayStays) {
  const std::vector<Runs> now = {{{4, 4}}, {{12, 8}}, {{0, 4}, {8, 4}}};
  const PageLayout layout({{4, 0, 9}, {8, 1, 8}, {8, 2, 7}}, now, {20, kPage, {}});
  EXPECT_EQ(layout.places(), now);
}

TEST(PageLayout, ABlockWhosePlaceIsTakenForOnceMovesToWhereItIsInNobodysWay) {
  PageLayout layout({{4, 0, 9}, {4, 1, 3}, {4, 5, 7}}, {{{0, 4}}, {{4, 4}}, {{8, 4}}},
                    {12, kPage, {}});
  EXPECT_TRUE(layout.move_elsewhere(1, {{4, 1}}));
  EXPECT_EQ(layout.places()[1], (Runs{{5, 4}}));
  EXPECT_FALSE(layout.move_elsewhere(1, {{4, 1}, {7, 1}, {11, 1}}));
  EXPECT_EQ(layout.places()[1], (Runs{{5, 4}}));
}

TEST(PageLayout, WhatLivesOnMeetsTheBeginning) {
  // The first lives from 3 to the end, and in the next step until 1.
  const auto places = laid_out({{8, 3, 1}, {4, 0, 2}, {4, 1, 3}}, {12, kPage, {}});
  EXPECT_EQ(places[0], (Runs{{0, 8}}));
  EXPECT_EQ(places[1], (Runs{{8, 4}}));
  EXPECT_EQ(places[2], (Runs{{0, 4}}));
}

TEST(PageLayout, WhatIsTakenIsLeftAlone) {
  const auto places = laid_out({{4, 0, 1}, {3, 0, 1}}, {16, kPage, {{0, 2}, {10, 2}}});
  EXPECT_EQ(places[0], (Runs{{2, 4}}));
  EXPECT_EQ(places[1], (Runs{{6, 3}}));
}

TEST(PageLayout, WithoutARowItTakesPagesFromHereAndThere) {
  const auto places = laid_out({{10, 0, 1}}, {16, kPage, {{8, 1}}});
  EXPECT_EQ(places[0], (Runs{{0, 8}, {12, 2}}));
}

TEST(PageLayout, WithoutRoomThereIsNoPlace) {
  const auto places = laid_out({{8, 0, 2}, {8, 1, 3}}, {12, kPage, {}});
  // Either of them may have it.
  EXPECT_NE(places[0], places[1]);
  for (const Runs& runs : places) EXPECT_TRUE(runs.empty() || runs == (Runs{{0, 8}}));
}

TEST(PageLayout, WithoutAKnownLifeThereIsNoPlace) {
  EXPECT_EQ(laid_out({{8, 0, -1}}, {12, kPage, {}})[0], Runs());
}

// Step through two steps and look at every unit.
void expect_no_clash(const std::vector<RecurringBlock>& blocks, const LayoutSpace& space,
                     const std::vector<Runs>& places, int events) {
  for (int event = 0; event < events; ++event) {
    std::vector<int> used(static_cast<std::size_t>(space.units), 0);
    const auto use = [&](const Runs& runs) {
      for (const UnitRun& run : runs) {
        ASSERT_GE(run.first, 0);
        ASSERT_LE(run.first + run.count, space.units);
        for (std::int64_t i = 0; i < run.count; ++i)
          ++used[static_cast<std::size_t>(run.first + i)];
      }
    };
    use(space.taken);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const auto [units, begin, end] = blocks[i];
      const bool is_alive =
          begin < end ? begin <= event && event < end : event >= begin || event < end;
      if (is_alive) use(places[i]);
    }
    for (const int count : used) ASSERT_LE(count, 1);
  }
}

// Cuts what is left of a span of units and of events in two, again and again.
void cut(base::Random& random, std::int64_t units, int begin, int end, int depth,
         std::vector<RecurringBlock>& blocks) {
  if (depth == 0 || units < 4 || end - begin < 4) {
    blocks.push_back({units, begin, end});
  } else if (random.below(2) == 0) {
    const auto some =
        1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(units) - 1));
    cut(random, some, begin, end, depth - 1, blocks);
    cut(random, units - some, begin, end, depth - 1, blocks);
  } else {
    const int middle =
        begin + 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(end - begin) - 1));
    cut(random, units, begin, middle, depth - 1, blocks);
    cut(random, units, middle, end, depth - 1, blocks);
  }
}

// There is room for all of them, for they were cut from less.
TEST(PageLayout, BlocksThatFillAlmostAllOfItFindPlacesAnew) {
  constexpr int kEvents = 1000;
  constexpr std::int64_t kUnits = 2000;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    base::Random random(seed);
    std::vector<RecurringBlock> blocks;
    cut(random, kUnits, 0, kEvents, 8, blocks);
    const LayoutSpace space{.units = kUnits * 115 / 100, .units_per_page = kPage, .taken = {}};
    const PageLayout layout(blocks, std::vector<Runs>(blocks.size()), space, seed);
    EXPECT_TRUE(layout.is_complete()) << "seed " << seed << ", " << blocks.size() << " blocks";
    expect_no_clash(blocks, space, layout.places(), kEvents);
  }
}

// A step waits for it.
TEST(PageLayout, SearchAmongThousandsOfBlocksInVainIsBounded) {
  constexpr std::size_t kBlocks = 2'500;
  constexpr int kEvents = 5'000;
  base::Random random(1);
  std::vector<RecurringBlock> blocks;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    const auto begin = static_cast<int>(random.below(kEvents));
    blocks.push_back(
        {1 + static_cast<std::int64_t>(random.below(20)), begin,
         static_cast<int>((static_cast<std::uint64_t>(begin) + 200 + random.below(300)) %
                          kEvents)});
  }
  // Some 1,800 are alive at a time.
  const LayoutSpace space{.units = 1'500, .units_per_page = kPage, .taken = {}};
  const PageLayout layout(blocks, std::vector<Runs>(kBlocks), space, 1);
  EXPECT_FALSE(layout.is_complete());
  constexpr std::int64_t kMostLooks = 150'000'000;
  constexpr std::int64_t kLastLooks = kBlocks * (kBlocks + 2);
  EXPECT_LE(layout.looks(), kMostLooks + kLastLooks);
}

TEST(PageLayout, NoTwoBlocksClash) {
  int stayed = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    base::Random random(seed);
    constexpr int kEvents = 40;
    const auto below = [&](int bound) {
      return static_cast<int>(random.below(static_cast<std::uint64_t>(bound)));
    };
    std::vector<RecurringBlock> blocks;
    for (int i = 0; i < 30; ++i) {
      const int begin = below(kEvents);
      blocks.push_back({1 + below(20), begin, (begin + 1 + below(kEvents / 2)) % kEvents});
    }
    const LayoutSpace space{.units = 120, .units_per_page = kPage, .taken = {{17, 3}, {60, 1}}};
    const std::vector<Runs> places = laid_out(blocks, space);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      std::int64_t units = 0;
      for (const UnitRun& run : places[i]) units += run.count;
      if (!places[i].empty()) {
        EXPECT_EQ(units, blocks[i].units);
      }
      for (std::size_t k = 0; places[i].size() > 1 && k < places[i].size(); ++k) {
        EXPECT_EQ(places[i][k].first % kPage, 0);
        const bool is_last = k + 1 == places[i].size();
        if (!is_last) {
          EXPECT_EQ(places[i][k].count % kPage, 0);
        }
      }
    }
    expect_no_clash(blocks, space, places, kEvents);
    expect_no_clash(blocks, space,
                    PageLayout(blocks, std::vector<Runs>(blocks.size()), space, seed).places(),
                    kEvents);
    // Some are in the way of others, some lie in what is taken or is not there any more.
    std::vector<Runs> now;
    for (const RecurringBlock& block : blocks) now.push_back({{below(125), block.units}});
    const PageLayout kept(blocks, now, space);
    expect_no_clash(blocks, space, kept.places(), kEvents);
    stayed += std::inner_product(now.begin(), now.end(), kept.places().begin(), 0, std::plus<>(),
                                 std::equal_to<>());
  }
  EXPECT_GT(stayed, 50);
}

}  // namespace
}  // namespace lowtide::engine
