// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/figures.h"

#include <gtest/gtest.h>

#include "trace/text.h"

namespace lowtide::cli {
namespace {

TEST(Figures, OverheadIsAShareOfThePlainTime) {
  EXPECT_DOUBLE_EQ(overhead(2, 3), 0.5);
  EXPECT_DOUBLE_EQ(overhead(0, 3), 0);
}

struct Case {
  double share;
  const char* text;
};

TEST(Figures, OverheadHasASignUnlessItRoundsToNothing) {
  const Case cases[] = {{0.0834, "+8.3 %"}, {-0.02, "-2.0 %"}, {1e-6, "0.0 %"},
                        {-1e-6, "0.0 %"},   {0, "0.0 %"},      {2.5, "+250 %"}};
  for (const Case& test : cases) EXPECT_EQ(format_overhead(test.share), test.text);
}

TEST(Figures, OpsAreNamedWithTheirLayers) {
  const Trace trace = trace::parse_text(
      "lowtide-trace 1\nname t\nop f forward layer=body.0 : ->\nop g forward : ->\n");
  EXPECT_EQ(op_words(trace, OpId{0}), "f (op 0) of body.0");
  EXPECT_EQ(op_words(trace, OpId{1}), "g (op 1)");
  EXPECT_EQ(op_words(trace, trace.end()), "end of step");
}

TEST(Figures, ActionsAreCountedBySort) {
  Plan plan;
  plan.actions = {Move{}, Fetch{}, Move{}, Drop{}, Order{}};
  std::vector<std::string> counts;
  for (const ActionCount& action : count_actions(plan)) {
    if (action.count > 0) counts.push_back(action.plural + std::to_string(action.count));
  }
  EXPECT_EQ(counts, (std::vector<std::string>{"drops1", "moves2", "fetches1", "orders1"}));
  EXPECT_EQ(evictions(plan), 3);
}

TEST(Figures, BytesAreToldApartByTierAndDirection) {
  Timeline timeline;
  timeline.links = {{.tier = TierId{0}, .to_tier = true, .bytes = 1},
                    {.tier = TierId{0}, .to_tier = false, .bytes = 10},
                    {.tier = TierId{1}, .to_tier = true, .bytes = 100}};
  EXPECT_EQ(bytes_to_host(timeline), 1);
  EXPECT_EQ(bytes_to_disk(timeline), 100);
  EXPECT_EQ(bytes_moved(timeline), 111);
}

TEST(Figures, LongestStallsComeFirst) {
  Timeline timeline;
  for (const double seconds : {1.0, 3.0, 2.0}) {
    Stall stall;
    stall.op = make_id<OpId>(timeline.stalls.size());
    stall.seconds = seconds;
    timeline.stalls.push_back(stall);
  }
  const std::vector<Stall> longest = longest_stalls(timeline, 2);
  ASSERT_EQ(longest.size(), 2U);
  EXPECT_EQ(longest[0].op, OpId{1});
  EXPECT_EQ(longest[1].op, OpId{2});
}

}  // namespace
}  // namespace lowtide::cli
