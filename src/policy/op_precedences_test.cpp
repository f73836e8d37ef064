// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/op_precedences.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "sim/test_step.h"

namespace lowtide::policy {
namespace {

using sim::TestStep;

TEST(OpPrecedences, AllowTheOrdersThatTheCheckerAllowsAndNoOthers) {
  const TestStep step(R"(
storage x 1 input start
storage a 1 activation
storage b 1 activation
storage c 1 activation
op f forward : x -> a
op g forward : a -> b
op v forward : -> | a
op k forward : a -> c
op o forward : -> a
op r forward : a b -> a
)");
  const std::vector<solve::Precedence> precedences = op_precedences(*step.problem.trace);
  std::vector<std::int32_t> order(step.problem.trace->ops().size());
  std::iota(order.begin(), order.end(), 0);
  int allowed = 0;
  do {
    const auto place = [&](std::int32_t op) {
      return std::find(order.begin(), order.end(), op) - order.begin();
    };
    const bool keeps =
        std::all_of(precedences.begin(), precedences.end(),
                    [&](const solve::Precedence& p) { return place(p.before) < place(p.after); });
    std::string text = "order";
    for (const std::int32_t op : order) text += " " + std::to_string(op);
    const bool is_bad_order =
        step.faults(step.plan(text + "\n")).find("the order puts") != std::string::npos;
    EXPECT_EQ(keeps, !is_bad_order) << text;
    allowed += keeps ? 1 : 0;
  } while (std::next_permutation(order.begin(), order.end()));
  // g and k in either order before o, and v anywhere after f.
  EXPECT_EQ(allowed, 10);
}

}  // namespace
}  // namespace lowtide::policy
