// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/order_check.h"

#include <gtest/gtest.h>

#include "plan/fixture_test.h"

namespace lowtide::plan {
namespace {

// g reads a before h overwrites it; v makes a view of b.
constexpr std::string_view kOps = R"(
storage x 1 input start
storage a 2 activation
storage b 3 activation
storage c 4 activation
storage d 1 activation end
op f forward : x -> a
op g forward : a -> b
op h forward : a -> a
op v forward : x -> c | b
op i backward : a b c -> d
)";

struct OrderCase {
  const char* order;
  // The first violation, or empty for a good order.
  const char* message;
};

std::ostream& operator<<(std::ostream& out, const OrderCase& row) { return out << row.order; }

class Ordering : public testing::TestWithParam<OrderCase> {};

TEST_P(Ordering, KeepsEveryDependence) {
  const OrderCase& row = GetParam();
  const Verdict verdict = verdict_of(problem_of(kOps), row.order);
  if (verdict.ok()) {
    EXPECT_STREQ(row.message, "");
    return;
  }
  EXPECT_EQ(verdict.violations[0].kind, Violation::Kind::kBadOrder);
  EXPECT_EQ(verdict.violations[0].message, row.message);
}

INSTANTIATE_TEST_SUITE_P(
    Orders, Ordering,
    testing::Values(
        OrderCase{"order 0 1 2 3 4", ""}, OrderCase{"order 0 1 3 2 4", ""},
        OrderCase{"order 1 0 2 3 4", "the order puts g (op 1), which reads a.0, before f (op 0)"},
        OrderCase{"order 0 2 1 3 4",
                  "the order puts h (op 2), which overwrites a.0, before g (op 1)"},
        OrderCase{"order 3 0 1 2 4",
                  "the order puts v (op 3), which makes a view of b.0, before g (op 1)"},
        OrderCase{"order 0 1 2 3", "the order names 4 of 5 ops"},
        OrderCase{"order 0 1 2 3 3", "the order names v (op 3) twice"},
        OrderCase{"order 0 1 2 3 4\norder 0 1 3 2 4", "the plan has more than one order"}));

TEST(OrderCheck, OverwritersKeepTheirOrder) {
  const Problem problem = problem_of(R"(
storage d 1 activation end
op f forward : -> d
op g forward : -> d
)");
  EXPECT_TRUE(verdict_of(problem, "order 0 1").ok());
  EXPECT_EQ(violations_of(verdict_of(problem, "order 1 0")),
            "bad_order: the order puts g (op 1), which overwrites d.0, before f (op 0)\n");
}

TEST(OrderCheck, NamesThatDoNotExistAreABadOrder) {
  const Problem problem = problem_of(kOps);
  Plan plan = plan_of(problem, "");
  plan.actions.emplace_back(Order{{OpId{0}, OpId{1}, OpId{2}, OpId{3}, OpId{5}}});
  EXPECT_EQ(violations_of(verify(problem, plan)),
            "bad_order: the order names op 5, which does not exist\n");
}

TEST(OrderCheck, ActionsFollowTheirOpsToAnotherTick) {
  const Problem problem = problem_of(R"(
storage x 1 input start
storage a 10 activation
storage b 20 activation
storage d 1 activation end
storage e 1 activation end
op f forward : x -> a
op g forward : x -> b
op i backward : a -> d
op j backward : b -> e
)");
  EXPECT_EQ(verdict_of(problem, "").peak_bytes, 31);  // x a b, or a b d
  const Verdict reordered = verdict_of(problem, "order 0 2 1 3");
  EXPECT_EQ(violations_of(reordered), "");
  EXPECT_EQ(reordered.peak_bytes, 22);  // x d b, or b d e
  EXPECT_EQ(reordered.peak_op, OpId{1});
  // After op 0 and before op 1 lie two ticks apart now.
  EXPECT_TRUE(verdict_of(problem,
                         "order 0 2 1 3\nmove a.0 host after 0\n"
                         "fetch a.0 issue 2 need 2")
                  .ok());
  EXPECT_FALSE(verdict_of(problem,
                          "order 0 2 1 3\nmove a.0 host after 0\n"
                          "fetch a.0 issue 1 need 2")
                   .ok());
}

}  // namespace
}  // namespace lowtide::plan
