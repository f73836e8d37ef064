// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/fetch_ahead.h"

#include <gtest/gtest.h>

#include "sim/test_step.h"

namespace lowtide::policy {
namespace {

using sim::TestStep;
using trace::Tick;

// Eight ops of a second each; a copy of a takes three seconds, one of b two.
constexpr std::string_view kStep = R"(
storage a 3 activation
storage b 2 activation
op make forward : -> a b
op one forward : ->
op two forward : ->
op three forward : ->
op four forward : ->
op five forward : ->
op six backward : a ->
op seven backward : b ->
)";

class FetchAhead : public testing::Test {
 protected:
  std::vector<Tick> issues(const TakeRoom& room) {
    std::vector<SwapDecision> swaps{{step_.value("a.0"), TierId{0}, 0, 6, 6},
                                    {step_.value("b.0"), TierId{0}, 0, 7, 7},
                                    {step_.value("b.0"), TierId{0}, 7, 9, 9}};
    fetch_ahead(step_.problem, StepClock(step_.problem), room, swaps);
    return {swaps[0].issue, swaps[1].issue, swaps[2].issue};
  }

  TestStep step_{kStep};
};

TEST_F(FetchAhead, CopiesBeginSoEarlyThatOneAfterTheOtherIsThereInTime) {
  // b comes last and has the link from 5 on, a before that. The third never comes back.
  EXPECT_EQ(issues([](auto) { return true; }), (std::vector<Tick>{2, 5, 9}));
}

TEST_F(FetchAhead, WithoutRoomTheyBeginAtTheirUse) {
  EXPECT_EQ(issues([](auto) { return false; }), (std::vector<Tick>{6, 7, 9}));
}

TEST_F(FetchAhead, WithLessRoomTheyBeginLater) {
  const cost::CostTable costs(*step_.problem.trace, step_.problem.machine);
  // Nothing has room in tick 4 or before; then there is some for one of the two.
  RoomBelow room(3, {3, 3, 3, 3, 3, 0, 0, 0, 0}, costs);
  EXPECT_EQ(issues(std::ref(room)), (std::vector<Tick>{6, 5, 9}));
}

TEST(RoomBelow, TakesAllOrNothing) {
  const TestStep step(kStep);
  const cost::CostTable costs(*step.problem.trace, step.problem.machine);
  const ValueId a = step.value("a.0");
  RoomBelow room(4, {0, 2, 0, 0}, costs);
  EXPECT_FALSE(room(std::vector<Presence>{{a, 0, 0}, {a, 1, 2}}));
  EXPECT_TRUE(room(std::vector<Presence>{{a, 0, 0}, {a, 2, 3}}));
  EXPECT_FALSE(room(std::vector<Presence>{{a, 3, 3}}));
  EXPECT_TRUE(room(std::vector<Presence>{{a, 3, 2}}));
}

}  // namespace
}  // namespace lowtide::policy
