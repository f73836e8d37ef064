// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/victim_search.h"

#include <cmath>
#include <limits>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace lowtide::sim {
namespace {

// Candidates whose score is a number of their own over their age.
class Candidates {
 public:
  Candidates(std::vector<double> costs, VictimSearch search, std::uint64_t seed = 1)
      : costs_(std::move(costs)),
        index_(costs_.size(), search, seed,
               [this](ValueId value, double age) { return costs_[value.slot()] / age; }) {
    for (std::size_t i = 0; i < costs_.size(); ++i) index_.add(make_id<ValueId>(i), 0);
  }

  void set_cost(std::size_t value, double cost) { costs_[value] = cost; }
  void use(std::size_t value, double now) {
    index_.remove(make_id<ValueId>(value));
    index_.add(make_id<ValueId>(value), now);
  }
  void remove(std::size_t value) { index_.remove(make_id<ValueId>(value)); }
  // -1 if there is none.
  int find(double now) { return index_.find(now).value_or(ValueId{}).index; }
  VictimIndex& index() { return index_; }

 private:
  std::vector<double> costs_;
  VictimIndex index_;
};

constexpr VictimSearch kSearches[] = {VictimSearch::kAll, VictimSearch::kSqrt, VictimSearch::kOne,
                                      VictimSearch::kIndexed};

TEST(VictimIndex, EverySearchFindsOnlyMembersAndNothingWhenThereIsNone) {
  for (const VictimSearch search : kSearches) {
    Candidates candidates({5, 1, 3}, search);
    candidates.remove(1);
    for (int i = 0; i < 50; ++i) EXPECT_NE(candidates.find(10), 1);
    candidates.remove(0);
    EXPECT_EQ(candidates.find(10), 2);
    EXPECT_TRUE(candidates.index().contains(ValueId{2}));
    candidates.remove(2);
    EXPECT_EQ(candidates.find(10), -1);
    EXPECT_TRUE(candidates.index().empty());
  }
}

TEST(VictimIndex, TheLowestScoreIsFoundAmongAll) {
  for (const VictimSearch search : {VictimSearch::kAll, VictimSearch::kIndexed}) {
    Candidates candidates({8, 2, 4}, search);
    EXPECT_EQ(candidates.find(10), 1);
    // 8/10, 2/1 and 4/10: value 1 has just been used.
    candidates.use(1, 9);
    EXPECT_EQ(candidates.find(10), 2);
  }
}

TEST(VictimIndex, AmongEqualScoresTheLowestValueGoes) {
  for (const VictimSearch search : {VictimSearch::kAll, VictimSearch::kIndexed}) {
    Candidates candidates({3, 3, 3}, search);
    candidates.use(0, 0);
    EXPECT_EQ(candidates.find(5), 0);
  }
}

TEST(VictimIndex, AValueUsedThisVeryMomentHasAFiniteScore) {
  for (const VictimSearch search : {VictimSearch::kAll, VictimSearch::kIndexed}) {
    Candidates candidates({4, 1}, search);
    candidates.use(0, 7);
    candidates.use(1, 7);
    EXPECT_EQ(candidates.find(7), 1);
  }
}

TEST(VictimIndex, SquareRootSearchTakesTheBestOfItsSample) {
  std::vector<double> costs;
  for (int i = 0; i < 100; ++i) costs.push_back(i + 1);
  Candidates candidates(costs, VictimSearch::kSqrt);
  double sum = 0;
  for (int i = 0; i < 300; ++i) sum += candidates.find(10);
  // The best of 10 draws out of 0..99 is about 8.6 on average, that of one draw 49.5.
  EXPECT_GT(sum / 300, 5);
  EXPECT_LT(sum / 300, 13);
}

TEST(VictimIndex, SearchForOneDrawsEveryCandidate) {
  Candidates candidates({1, 1000, 1000, 1000}, VictimSearch::kOne);
  std::set<int> drawn;
  for (int i = 0; i < 200; ++i) drawn.insert(candidates.find(10));
  EXPECT_EQ(drawn, (std::set<int>{0, 1, 2, 3}));
}

TEST(VictimIndex, TheSeedAloneDecidesWhatIsDrawn) {
  for (const VictimSearch search : {VictimSearch::kSqrt, VictimSearch::kOne}) {
    const auto draws = [search](std::uint64_t seed) {
      std::vector<double> costs;
      for (int i = 0; i < 64; ++i) costs.push_back(i + 1);
      Candidates candidates(costs, search, seed);
      std::vector<int> drawn;
      for (int i = 0; i < 32; ++i) drawn.push_back(candidates.find(10));
      return drawn;
    };
    EXPECT_EQ(draws(1), draws(1));
    EXPECT_NE(draws(1), draws(2));
  }
}

TEST(VictimIndex, AValueWhoseScoreChangedIsFiledAnewOnceItComesUp) {
  // 0 and 2 are of one step, 0 the older; 1 is of another.
  Candidates candidates({1, 4, 1.2}, VictimSearch::kIndexed);
  candidates.use(2, 1);
  candidates.set_cost(0, 100);
  EXPECT_EQ(candidates.find(10), 1);
  EXPECT_EQ(candidates.find(10), 2);
}

TEST(VictimIndex, AnInfiniteScoreDoesNotHideAValueThatIsFree) {
  for (const VictimSearch search : {VictimSearch::kAll, VictimSearch::kIndexed}) {
    Candidates candidates({std::numeric_limits<double>::infinity(), 0}, search);
    EXPECT_EQ(candidates.find(10), 1);
  }
}

RC_GTEST_PROP(VictimIndex, TheIndexFindsTheLowestScoreUpToTheSquareRootOfTwo, ()) {
  const auto size = *rc::gen::inRange<std::size_t>(1, 60);
  const auto tenths = *rc::gen::container<std::vector<int>>(size, rc::gen::inRange(0, 100000));
  std::vector<double> costs;
  for (const int tenth : tenths) costs.push_back(tenth / 10.0);
  Candidates candidates(costs, VictimSearch::kIndexed);
  std::vector<double> last_use(size, 0);
  for (int step = 1; step < 30; ++step) {
    const auto used = *rc::gen::inRange<std::size_t>(0, size);
    candidates.use(used, step);
    last_use[used] = step;
    const double now = step + 1;
    const auto score = [&](std::size_t i) { return costs[i] / (now - last_use[i]); };
    double best = score(0);
    for (std::size_t i = 1; i < size; ++i) best = std::min(best, score(i));
    const auto found = static_cast<std::size_t>(candidates.find(now));
    RC_ASSERT(score(found) <= best * std::sqrt(2.0) * (1 + 1e-12));
  }
}

}  // namespace
}  // namespace lowtide::sim
