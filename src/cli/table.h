// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/console.h"

namespace lowtide::cli {

enum class Align { kLeft, kRight };

// Text in columns, each as wide as its widest cell. A row that is shorter than the header lets its
// last cell run on over the columns that it lacks.
class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };
  struct Row {
    std::vector<std::string> cells;
    // Stands out: bold where there is colour.
    bool is_marked = false;
    // A blank line goes before it, unless it is the first.
    bool starts_group = false;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(Row row) { rows_.push_back(std::move(row)); }
  std::string text(const Style& style) const;

 private:
  std::vector<std::size_t> widths() const;
  std::string line(const std::vector<std::string>& cells,
                   const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

// Columns that text takes on a terminal: one for each code point.
std::size_t display_width(std::string_view text);

// `text` broken between words into lines that end before column `width`. The first one continues a
// line at column `indent`; the others begin with that many blanks.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace lowtide::cli
