// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/console.h"

namespace lowtide::cli {

// One character on the terminal. Colours are those of the 256-colour palette.
struct Cell {
  static constexpr int kNoColour = -1;

  std::string glyph = " ";
  int colour = kNoColour;
  int background = kNoColour;

  bool is_blank() const { return glyph == " " && background == kNoColour; }
};

// A grid of characters to draw on. Row 0 is the lowest, column 0 the leftmost; what is drawn
// outside is lost.
class Canvas {
 public:
  Canvas(int columns, int rows);

  int columns() const { return columns_; }
  int rows() const { return rows_; }

  const Cell& at(int column, int row) const;
  void set(int column, int row, Cell cell);
  // Draws only where nothing is.
  void set_if_blank(int column, int row, Cell cell);
  // One cell for each code point.
  void write(int column, int row, std::string_view text, int colour);

  // One row as text, with escape codes if the style has colour and without trailing blanks.
  std::string row_text(int row, const Style& style) const;

 private:
  bool is_inside(int column, int row) const;
  std::size_t slot(int column, int row) const;

  int columns_;
  int rows_;
  std::vector<Cell> cells_;
};

}  // namespace lowtide::cli
