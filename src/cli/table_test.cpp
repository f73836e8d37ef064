// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/table.h"

#include <gtest/gtest.h>

namespace lowtide::cli {
namespace {

TEST(Table, ColumnsAreAsWideAsTheirWidestCell) {
  Table table({{"name", Align::kLeft}, {"peak", Align::kRight}, {"time", Align::kRight}});
  table.add({{"capuchin", "1 B", "10 s"}});
  table.add({{"dtr", "200 B", "1 s"}, /*is_marked=*/false, /*starts_group=*/true});
  table.add({{"x", "refused (min 5.1 GiB)"}});
  EXPECT_EQ(table.text({}),
            "name       peak  time\n"
            "capuchin    1 B  10 s\n"
            "\n"
            "dtr       200 B   1 s\n"
            "x         refused (min 5.1 GiB)\n");
}

TEST(Table, MarkedRowIsBoldOnlyWithColour) {
  Table table({{"a", Align::kLeft}});
  table.add({{"b"}, /*is_marked=*/true});
  EXPECT_EQ(table.text({}), "a\nb\n");
  EXPECT_EQ(table.text({.colour = true}), "\x1b[1ma\x1b[0m\n\x1b[1mb\x1b[0m\n");
}

TEST(DisplayWidth, CountsCodePoints) {
  EXPECT_EQ(display_width("a▓é"), 3U);
  EXPECT_EQ(display_width(""), 0U);
}

TEST(Wrap, BreaksBetweenWordsAndIndents) {
  EXPECT_EQ(wrap("one two three", 9, 2), "one two\n  three");
  EXPECT_EQ(wrap("a-word-too-long-for-it b", 6, 0), "a-word-too-long-for-it\nb");
  EXPECT_EQ(wrap("", 6, 0), "");
}

}  // namespace
}  // namespace lowtide::cli
