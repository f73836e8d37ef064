// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/canvas.h"

#include <utility>

namespace lowtide::cli {
namespace {

std::string colour_code(int colour, int background) {
  std::string code = "\x1b[0";
  if (colour != Cell::kNoColour) code += ";38;5;" + std::to_string(colour);
  if (background != Cell::kNoColour) code += ";48;5;" + std::to_string(background);
  return code + "m";
}

// Length of the code point that begins with this byte.
std::size_t code_point_bytes(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte < 0x80) return 1;
  if (byte < 0xE0) return 2;
  return byte < 0xF0 ? 3 : 4;
}

}  // namespace

Canvas::Canvas(int columns, int rows)
    : columns_(columns),
      rows_(rows),
      cells_(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows)) {}

bool Canvas::is_inside(int column, int row) const {
  return column >= 0 && column < columns_ && row >= 0 && row < rows_;
}

std::size_t Canvas::slot(int column, int row) const {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
         static_cast<std::size_t>(column);
}

const Cell& Canvas::at(int column, int row) const { return cells_[slot(column, row)]; }

void Canvas::set(int column, int row, Cell cell) {
  if (is_inside(column, row)) cells_[slot(column, row)] = std::move(cell);
}

void Canvas::set_if_blank(int column, int row, Cell cell) {
  if (is_inside(column, row) && at(column, row).is_blank()) set(column, row, std::move(cell));
}

void Canvas::write(int column, int row, std::string_view text, int colour) {
  while (!text.empty()) {
    const std::string_view glyph = text.substr(0, code_point_bytes(text.front()));
    set(column++, row, Cell{std::string(glyph), colour, Cell::kNoColour});
    text.remove_prefix(glyph.size());
  }
}

std::string Canvas::row_text(int row, const Style& style) const {
  int end = columns_;
  while (end > 0 && at(end - 1, row).is_blank()) --end;
  std::string text;
  int colour = Cell::kNoColour;
  int background = Cell::kNoColour;
  for (int column = 0; column < end; ++column) {
    const Cell& cell = at(column, row);
    const bool changes = cell.colour != colour || cell.background != background;
    if (style.colour && changes) text += colour_code(cell.colour, cell.background);
    colour = cell.colour;
    background = cell.background;
    text += cell.glyph;
  }
  const bool is_coloured = colour != Cell::kNoColour || background != Cell::kNoColour;
  if (style.colour && is_coloured) text += "\x1b[0m";
  return text;
}

}  // namespace lowtide::cli
