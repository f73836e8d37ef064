// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/memory_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/text.h"

namespace lowtide::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kStep = R"(lowtide-trace 1
name tiny
storage w 4 parameter start end
storage a 4 activation
storage g 4 gradient end
op matmul forward : w -> a
op matmul_backward backward : w a -> g
op update optimizer : w g -> w
)";

TickUse tick(int op, double start, double end, std::int64_t activation, std::int64_t gradient) {
  TickUse use{.op = OpId{op}, .start_seconds = start, .end_seconds = end};
  use.bytes[static_cast<std::size_t>(StorageKind::kParameter)] = 4;
  use.bytes[static_cast<std::size_t>(StorageKind::kActivation)] = activation;
  use.bytes[static_cast<std::size_t>(StorageKind::kGradient)] = gradient;
  return use;
}

Timeline tiny_timeline() {
  Timeline timeline;
  timeline.seconds = 4;
  timeline.peak_bytes = 12;
  timeline.peak_op = OpId{1};
  timeline.ticks = {tick(0, 0, 1, 4, 0), tick(1, 1, 3, 4, 4), tick(2, 3, 4, 0, 4)};
  return timeline;
}

std::string draw(const Style& style, const ChartOptions& options) {
  return "\n" + draw_memory(trace::parse_text(kStep), tiny_timeline(), options, style);
}

// Four bytes a row: the budget is the top one.
TEST(MemoryChart, DrawsKindsAsLettersWithoutUnicode) {
  const Style style{.colour = false, .unicode = false, .columns = 50};
  EXPECT_EQ(draw(style, {.columns = 52, .rows = 4, .budget_bytes = 16, .plain_peak_bytes = 100}),
            R"(
           |
      16 B +----------v peak 12 B ------------------
           |          aaaaaaaaaaaaaaaaaaaa
       8 B +aaaaaaaaaaGGGGGGGGGGGGGGGGGGGGGGGGGGGGGG
           |PPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPP
         0 ++--------+---------+---------+---------+
            |- for ---|---- backward -----|- opt --|
            0 s     1 s       2 s       3 s      4 s

   at peak  P parameter 4 B   G gradient 4 B
            a activation 4 B
     lines  - budget 16 B
)");
}

TEST(MemoryChart, DrawsKindsAsTexturesWithoutColour) {
  const Style style{.colour = false, .unicode = true, .columns = 50};
  EXPECT_EQ(draw(style, {.columns = 64, .rows = 4, .plain_peak_bytes = 16}), R"(
           │
      16 B ┤┈┈┈┈┈┈┈┈┈┈┈┈┈▼ peak 12 B, matmul_backward (op 1) ┈┈┈
           │             ░░░░░░░░░░░░░░░░░░░░░░░░░░
       8 B ┤░░░░░░░░░░░░░▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒
           │████████████████████████████████████████████████████
         0 └┬───────────┬────────────┬────────────┬────────────┬
            ├─ forward ──┼─────── backward ────────┼ optimizer ┤
            0 s        1 s          2 s          3 s         4 s

   at peak  █ parameter 4 B   ▒ gradient 4 B   ░ activation 4 B
     lines  ┈ plain peak 16 B
)");
}

TEST(MemoryChart, HasEscapeCodesOnlyWithColour) {
  const ChartOptions options{.columns = 60, .rows = 6, .budget_bytes = 14};
  EXPECT_THAT(draw({.colour = false, .unicode = true}, options), Not(HasSubstr("\x1b")));
  EXPECT_THAT(draw({.colour = true, .unicode = true}, options), HasSubstr("\x1b[0;38;5;25m█"));
}

TEST(MemoryChart, LeavesOutLinesFarAboveThePeak) {
  const std::string text = draw({}, {.columns = 60, .rows = 6, .budget_bytes = 1000});
  EXPECT_THAT(text, Not(HasSubstr("budget")));
}

TEST(MemoryChart, SaysSoWhenThereIsNothingToDraw) {
  const Trace trace = trace::parse_text("lowtide-trace 1\nname empty\n");
  EXPECT_EQ(draw_memory(trace, Timeline{}, {}, {}), "(the step has no ops)\n");
}

}  // namespace
}  // namespace lowtide::cli
