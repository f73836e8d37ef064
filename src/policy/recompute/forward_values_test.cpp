// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/recompute/forward_values.h"

#include <gtest/gtest.h>

#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

TEST(ForwardValues, SayWhenThePassIsThroughWithThemAndWhoIsNext) {
  const TestStep step(R"(
storage w 1 parameter start end
storage a 10 activation
storage b 10 activation
storage t 10 temporary
storage once 10 activation
storage g 1 gradient end
op f0 forward : w -> a
op f1 forward : a -> t
op f2 forward : a t -> b free t
op f3 forward once : w -> once
op g0 backward : b once -> g
op g1 backward : a g -> g
)");
  const Trace& trace = *step.problem.trace;
  EXPECT_EQ(forward_end(trace), 4);
  const plan::ReplayReach reach(trace, *trace.lifetimes(), {});
  std::string found;
  for (const ForwardValue& value : forward_values(trace, reach)) {
    found += step.name(value.value) + " " + std::to_string(value.last_forward) + " " +
             std::to_string(value.first_later) +
             (value.lives_on(*trace.lifetimes()) ? " lives on\n" : "\n");
  }
  EXPECT_EQ(found, "a.0 2 5 lives on\nt.0 2 7\nb.0 2 4 lives on\n");
}

}  // namespace
}  // namespace lowtide::policy
