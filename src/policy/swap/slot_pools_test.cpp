// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/swap/slot_pools.h"

#include <gtest/gtest.h>

#include "sim/test_step.h"

namespace lowtide::policy {
namespace {

using sim::TestStep;
using Numbers = std::vector<std::int32_t>;

TEST(SizeGroups, SizesCloseToEachOtherAreOneGroup) {
  const TestStep step(R"(
storage a 100 activation
storage b 1 activation
storage c 112 activation
storage d 113 activation
storage e 97 activation
op f forward : -> a b c d e
)");
  const SizeGroups groups(*step.problem.trace, step.problem.machine);
  // 1; up to 112; up to 128.
  EXPECT_EQ(groups.bytes, (std::vector<std::int64_t>{1, 112, 113}));
  EXPECT_EQ(groups.of_storage, (Numbers{1, 0, 1, 2, 1}));
}

// Two sizes, used in turns: a and b while the large c is not there.
constexpr std::string_view kStep = R"(
storage a 2 activation
storage b 2 activation
storage c 10 activation
op f forward : -> a
op g forward workspace=1 : a -> b
op h forward : -> c
op i backward : c ->
op j backward : b -> b
)";

class Pools : public testing::Test {
 protected:
  SlotPools make(const Numbers& pool_of_group, std::int64_t budget, bool may_move = true) {
    step_.problem.budget_bytes = budget;
    const Trace& trace = *step_.problem.trace;
    pool_of_group_ = pool_of_group;
    return {step_.problem, *trace.lifetimes(),
            costs_,        std::vector<bool>(trace.storages().size(), may_move),
            groups_,       pool_of_group_};
  }

  TestStep step_{kStep};
  const cost::CostTable costs_{*step_.problem.trace, step_.problem.machine};
  const SizeGroups groups_{*step_.problem.trace, step_.problem.machine};
  Numbers pool_of_group_;
};

TEST_F(Pools, HaveSlotsForWhatIsUsedAtOnce) {
  // Two small slots in g, a large one in h, and the workspace.
  EXPECT_EQ(make({0, 1}, 100).total_bytes(), 2 * 2 + 10 + 1);
  // All in one pool: two large slots, but none for the small.
  EXPECT_EQ(make({1, 1}, 100).total_bytes(), 2 * 10 + 1);
}

TEST(SlotPools, WhatCannotMoveTakesItsSlotForAsLongAsItExists) {
  const TestStep step(R"(
storage a 2 activation
storage b 2 activation
op f forward : -> a
op g forward : -> b
op h forward : b -> b
op i forward : a ->
)");
  const Trace& trace = *step.problem.trace;
  const cost::CostTable costs(trace, step.problem.machine);
  const SizeGroups groups(trace, step.problem.machine);
  const Numbers pools{0};
  const auto total = [&](bool may_move) {
    return SlotPools(step.problem, *trace.lifetimes(), costs, {may_move, may_move}, groups, pools)
        .total_bytes();
  };
  EXPECT_EQ(total(true), 2);
  EXPECT_EQ(total(false), 4);
}

TEST_F(Pools, TakeAllOrNothing) {
  SlotPools pools = make({0, 1}, 15);
  const ValueId b = step_.value("b.0");
  const ValueId c = step_.value("c.0");
  EXPECT_EQ(pools.pool_of(b), 0);
  EXPECT_EQ(pools.pool_of(c), 1);
  // There is a free small slot, but no second large one.
  EXPECT_TRUE(pools(std::vector<Presence>{{b, 2, 3}}));
  EXPECT_FALSE(pools(std::vector<Presence>{{b, 2, 3}, {c, 2, 2}}));
  EXPECT_TRUE(pools(std::vector<Presence>{{b, 2, 3}}));
  EXPECT_FALSE(pools(std::vector<Presence>{{b, 2, 3}}));
  EXPECT_EQ(pools.total_bytes(), 15);
}

}  // namespace
}  // namespace lowtide::policy
