// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/recompute/saved_set.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "policy/test_outcome.h"

namespace lowtide::policy {
namespace {

// t is a quarter of a and b, which are made of it and which alone the backward pass reads.
constexpr std::string_view kNarrow = R"(
storage w 1 parameter start end
storage t 4 temporary
storage a 16 activation
storage b 16 activation
storage g 1 gradient end
op f0 forward : w -> t
op f1 forward : t -> a
op f2 forward : a -> b free t
op g0 backward : b -> g
op g1 backward : a g -> g
)";

// "t | a b" for t saved, a and b made again. `banned` are the values that must not be.
std::string cut_of(const std::vector<std::string>& banned, std::string_view text = kNarrow,
                   double price_of_distance = kPriceOfDistance) {
  const TestStep step(text);
  const Trace& trace = *step.problem.trace;
  const plan::ReplayReach reach(trace, *trace.lifetimes(), {});
  const std::vector<ForwardValue> values = forward_values(trace, reach);
  std::vector<bool> may_recompute;
  for (const ForwardValue& value : values) {
    may_recompute.push_back(std::find(banned.begin(), banned.end(), step.name(value.value)) ==
                            banned.end());
  }
  const cost::CostTable costs(trace, step.problem.machine);
  const SavedSet set = find_saved_set(trace, costs, values, may_recompute, price_of_distance);
  std::string found;
  for (const std::int32_t i : set.saved) {
    found += step.name(values[static_cast<std::size_t>(i)].value) + " ";
  }
  found += "|";
  for (const std::int32_t i : set.recomputed) {
    found += " " + step.name(values[static_cast<std::size_t>(i)].value);
  }
  return found + ", " + std::to_string(set.saved_bytes);
}

TEST(SavedSet, IsTheNarrowestPlaceBehindWhatMustNotBeRepeated) {
  EXPECT_EQ(cut_of({}), "| t.0 a.0 b.0, 0") << "all can be made of w";
  EXPECT_EQ(cut_of({"t.0"}), "t.0 | a.0 b.0, 4");
  EXPECT_EQ(cut_of({"t.0", "a.0"}), "a.0 | b.0, 16");
  EXPECT_EQ(cut_of({"t.0", "a.0", "b.0"}), "a.0 b.0 |, 32");
  EXPECT_EQ(cut_of({"b.0"}), "b.0 | t.0 a.0, 16");
}

// t is a little less than a, which is a replay nearer to the backward pass.
TEST(SavedSet, ThePriceOfDistanceWeighsBytesAgainstReplays) {
  constexpr std::string_view kSlightly = R"(
storage w 1 parameter start end
storage t 150 temporary
storage a 160 activation
storage g 1 gradient end
op f0 forward : w -> t
op f1 forward : t -> a free t
op g0 backward : a -> g
)";
  EXPECT_EQ(cut_of({"t.0"}, kSlightly), "a.0 |, 160");
  EXPECT_EQ(cut_of({"t.0"}, kSlightly, 1), "t.0 | a.0, 150");
}

}  // namespace
}  // namespace lowtide::policy
