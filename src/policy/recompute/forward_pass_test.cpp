// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/recompute/forward_pass.h"

#include <gtest/gtest.h>

#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

ForwardPass pass_of(const TestStep& step) {
  const Trace& trace = *step.problem.trace;
  const trace::Lifetimes& lifetimes = *trace.lifetimes();
  return {trace, lifetimes, plan::ReplayReach(trace, lifetimes, {})};
}

TEST(ForwardPass, IsCutWhereFewestValuesCross) {
  const TestStep step(R"(
storage w 1 parameter start end
storage a 10 activation
storage b 10 activation
storage c 10 activation
storage g 1 gradient end
op fa forward : w -> a
op fb forward : a -> b
op fc forward : b -> c
op loss backward : c -> g
op gb backward : b g -> g
op ga backward : a g -> g
)");
  const ForwardPass pass = pass_of(step);
  EXPECT_EQ(pass.end, 3);
  EXPECT_EQ(pass.candidates, (std::vector<trace::Tick>{0, 1}));
}

// Between the product and the activation in its place the pass could only be cut through a value
// that is not there any more when a replay begins with it.
TEST(ForwardPass, IsNotCutBetweenAnOpAndTheOneThatWorksInItsPlace) {
  const TestStep step(R"(
storage w 1 parameter start end
storage a 10 activation
storage b 10 activation
storage g 1 gradient end
op mm forward : w -> a
op relu_ forward : a -> a
op mm forward : a w -> b
op relu_ forward : b -> b
op loss backward : b -> g
op ga backward : a g -> g
)");
  EXPECT_EQ(pass_of(step).candidates, (std::vector<trace::Tick>{1}));
}

}  // namespace
}  // namespace lowtide::policy
