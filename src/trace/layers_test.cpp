// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "trace/layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/text.h"

namespace lowtide::trace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Layers, ComeInOrderOfTheirFirstForwardOp) {
  // `tail` occurs first, but only in the backward phase; `one` comes back after `two`.
  const Trace trace = parse_text(
      "lowtide-trace 1\nname t\n"
      "op a backward layer=tail : ->\nop b forward layer=one : ->\nop c forward layer=two : ->\n"
      "op d forward layer=one : ->\nop e forward : ->\nop f backward layer=two : ->\n"
      "op g backward layer=one : ->\nop h optimizer layer=head : ->\n");
  const std::vector<Layer> found = layers(trace);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].name, "one");
  EXPECT_THAT(found[0].ops(Phase::kForward), ElementsAre(OpId{1}, OpId{3}));
  EXPECT_THAT(found[0].ops(Phase::kBackward), ElementsAre(OpId{6}));
  EXPECT_THAT(found[0].ops(Phase::kOptimizer), IsEmpty());
  EXPECT_EQ(found[1].name, "two");
  EXPECT_THAT(found[1].ops(Phase::kForward), ElementsAre(OpId{2}));
  EXPECT_EQ(found[2].name, "tail");
  EXPECT_EQ(found[3].name, "head");
  EXPECT_THAT(found[3].ops(Phase::kOptimizer), ElementsAre(OpId{7}));
}

TEST(Layers, AreNoneWhenTheTraceNamesNone) {
  EXPECT_THAT(layers(parse_text("lowtide-trace 1\nname t\nop a forward : ->\n")), IsEmpty());
}

TEST(PhaseStarts, AreTheFirstTicks) {
  const Trace trace = parse_text(
      "lowtide-trace 1\nname t\nop a forward : ->\nop b forward : ->\nop c backward : ->\n"
      "op d forward : ->\nop e optimizer : ->\n");
  const PhaseStarts starts(trace);
  EXPECT_EQ(starts.of(Phase::kForward), 0);
  EXPECT_EQ(starts.of(Phase::kBackward), 2);
  EXPECT_EQ(starts.of(Phase::kOptimizer), 4);
  EXPECT_EQ(starts.of(Phase::kOther), std::nullopt);
}

}  // namespace
}  // namespace lowtide::trace
