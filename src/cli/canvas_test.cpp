// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/canvas.h"

#include <gtest/gtest.h>

namespace lowtide::cli {
namespace {

TEST(Canvas, WritesOneCellForEachCodePointAndClips) {
  Canvas canvas(4, 1);
  canvas.write(1, 0, "é▓xyz", Cell::kNoColour);
  canvas.write(0, 5, "outside", Cell::kNoColour);
  EXPECT_EQ(canvas.row_text(0, {}), " é▓x");
}

TEST(Canvas, DrawsOverNothingButBlanksIfAskedTo) {
  Canvas canvas(3, 1);
  canvas.set(1, 0, Cell{"x", Cell::kNoColour, Cell::kNoColour});
  for (int i = 0; i < 3; ++i) canvas.set_if_blank(i, 0, Cell{"-", 1, Cell::kNoColour});
  EXPECT_EQ(canvas.row_text(0, {}), "-x-");
}

TEST(Canvas, ChangesColourOnlyWhereItChangesAndEndsWithout) {
  Canvas canvas(4, 1);
  canvas.write(0, 0, "ab", 3);
  canvas.set(2, 0, Cell{"c", 4, 5});
  EXPECT_EQ(canvas.row_text(0, {.colour = true}), "\x1b[0;38;5;3mab\x1b[0;38;5;4;48;5;5mc\x1b[0m");
  EXPECT_EQ(canvas.row_text(0, {}), "abc");
}

}  // namespace
}  // namespace lowtide::cli
