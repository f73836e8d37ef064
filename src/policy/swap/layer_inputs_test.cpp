// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/swap/layer_inputs.h"

#include <string>

#include <gtest/gtest.h>

#include "sim/test_step.h"

namespace lowtide::policy {
namespace {

using sim::TestStep;

std::string names_of(const TestStep& step, LayerSet set) {
  std::string names;
  for (const SavedValue& input : inputs_of(set, layer_inputs(step.problem))) {
    names += step.name(input.value) + " ";
  }
  return names;
}

TEST(LayerInputs, AreThoseOfEveryLayerOrOfConvolutions) {
  const TestStep step(R"(
storage x 8 input start
storage w 1 parameter start end
storage a 8 activation
storage b 8 activation
storage m 8 activation
storage c 8 activation
storage d 8 activation
op conv2d forward : x w -> a
op relu forward : a -> b m
op conv2d forward : b w -> c
op conv2d forward : c w -> d
op loss forward : d ->
op conv2d_backward backward : d c w ->
op conv2d_backward backward : b w ->
op relu_backward backward : a m ->
op conv2d_backward backward : x w ->
)");
  // m is made forward and read backward only: nobody's input. d is no sooner free than wanted.
  EXPECT_EQ(names_of(step, LayerSet::kAll), "x.0 a.0 b.0 c.0 ");
  EXPECT_EQ(names_of(step, LayerSet::kConv), "x.0 b.0 c.0 ");
  EXPECT_EQ(names_of(step, LayerSet::kAlternateConv), "x.0 c.0 ");
  EXPECT_EQ(names_of(step, LayerSet::kNone), "");
}

TEST(LayerInputs, WaysComeDownFromQuickToLean) {
  const std::vector<LayerSet> sets{LayerSet::kNone, LayerSet::kConv, LayerSet::kAll};
  EXPECT_EQ(ways_to_try(sets, AlgorithmRule::kLeanest, true).size(), 3U);
  // Recorded steps have nothing to choose from.
  EXPECT_EQ(ways_to_try(sets, std::nullopt, false).size(), 3U);
  const std::vector<LayerWay> ways = ways_to_try(sets, std::nullopt, true);
  ASSERT_EQ(ways.size(), 5U);
  EXPECT_EQ(ways[2].set, LayerSet::kAll);
  EXPECT_EQ(ways[2].rule, AlgorithmRule::kQuickest);
  EXPECT_EQ(ways[3].set, LayerSet::kConv);
  EXPECT_EQ(ways[3].rule, AlgorithmRule::kWithinBudget);
}

}  // namespace
}  // namespace lowtide::policy
