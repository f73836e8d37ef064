// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/online_places.h"

#include <gtest/gtest.h>

#include "sim/test_step.h"

namespace lowtide::sim {
namespace {

// The mean is 11 seconds for 21 bytes.
constexpr std::string_view kTwo = R"(
storage w 1 parameter start end
storage dear 10 activation
storage cheap 10 activation
storage z 1 activation end
op f forward device=9 : w -> dear
op g forward device=1 : w -> cheap
op h backward : dear cheap -> z
)";

class OnlinePlacesTest : public testing::Test {
 protected:
  OnlinePlaces places(std::int64_t budget_bytes, Addresses kind) {
    step_.problem.budget_bytes = budget_bytes;
    return {step_.problem, costs_, kind, {}};
  }
  ValueId value(const char* name) const { return step_.value(name); }

  TestStep step_{kTwo};
  cost::CostTable costs_{*step_.problem.trace, step_.problem.machine};
};

TEST_F(OnlinePlacesTest, NoneAreKeptForAStepThatFitsOrForNobody) {
  EXPECT_FALSE(places(22, Addresses::kRows).are_known());
  EXPECT_FALSE(places(21, Addresses::kNone).are_known());
  EXPECT_TRUE(places(21, Addresses::kRows).are_known());
  EXPECT_TRUE(places(22, Addresses::kRows).enter(value("dear.0")));
}

// What lies next to the dear value is free up to the cheap one, at the other end.
TEST_F(OnlinePlacesTest, CheapValuesLieAtTheOtherEndWhereRoomIsMadeInRows) {
  OnlinePlaces rows = places(21, Addresses::kRows);
  ASSERT_TRUE(rows.enter(value("dear.0")));
  ASSERT_TRUE(rows.enter(value("cheap.0")));
  EXPECT_EQ(rows.free_beside(value("dear.0")), 1);
  EXPECT_FALSE(rows.enter_scratch(2));
  const auto row = rows.row_to_clear(
      11, [&](ValueId v) -> std::optional<double> { return v == value("dear.0") ? 2.0 : 1.0; });
  EXPECT_EQ(row, std::vector<ValueId>{value("cheap.0")});
}

TEST_F(OnlinePlacesTest, WithoutRowsNobodyIsAskedToGo) {
  OnlinePlaces beside = places(21, Addresses::kBeside);
  ASSERT_TRUE(beside.enter(value("dear.0")));
  ASSERT_TRUE(beside.enter(value("cheap.0")));
  EXPECT_EQ(beside.free_beside(value("dear.0")), 0);
  EXPECT_EQ(beside.free_beside(value("cheap.0")), 1);
  EXPECT_TRUE(beside.row_to_clear(11, [](ValueId) { return 1.0; }).empty());
}

}  // namespace
}  // namespace lowtide::sim
