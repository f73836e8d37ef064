// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/table.h"

#include <algorithm>

namespace lowtide::cli {
namespace {

constexpr std::string_view kGap = "  ";

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::size_t used = display_width(text);
  const std::string blanks(used < width ? width - used : 0, ' ');
  return align == Align::kLeft ? text + blanks : blanks + text;
}

std::string without_trailing_blanks(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(display_width(column.title));
  for (const Row& row : rows_) {
    const bool runs_on = row.cells.size() < columns_.size();
    const std::size_t fixed = std::min(row.cells.size(), columns_.size()) - (runs_on ? 1 : 0);
    for (std::size_t i = 0; i < fixed; ++i) {
      widths[i] = std::max(widths[i], display_width(row.cells[i]));
    }
  }
  return widths;
}

std::string Table::line(const std::vector<std::string>& cells,
                        const std::vector<std::size_t>& widths) const {
  std::string text;
  for (std::size_t i = 0; i < cells.size() && i < columns_.size(); ++i) {
    if (i > 0) text += kGap;
    const bool runs_on = i + 1 == cells.size() && cells.size() < columns_.size();
    text += runs_on ? cells[i] : padded(cells[i], widths[i], columns_[i].align);
  }
  return without_trailing_blanks(std::move(text));
}

std::string Table::text(const Style& style) const {
  const std::vector<std::size_t> column_widths = widths();
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  std::string text = bold(line(titles, column_widths), style) + "\n";
  for (const Row& row : rows_) {
    if (row.starts_group && &row != &rows_.front()) text += "\n";
    const std::string cells = line(row.cells, column_widths);
    text += (row.is_marked ? bold(cells, style) : cells) + "\n";
  }
  return text;
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string result;
  std::size_t used = indent;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    if (used > indent && used + 1 + display_width(word) > width) {
      result += "\n" + std::string(indent, ' ');
      used = indent;
    } else if (used > indent) {
      result += ' ';
      ++used;
    }
    result += word;
    used += display_width(word);
  }
  return result;
}

}  // namespace lowtide::cli
