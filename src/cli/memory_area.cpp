// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/memory_area.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "cli/chart_look.h"
#include "cli/table.h"

namespace lowtide::cli {
namespace {

constexpr int kEighths = 8;

const char* block(int eighths) {
  static constexpr std::array<const char*, kEighths + 1> kBlocks{" ", "▁", "▂", "▃", "▄",
                                                                 "▅", "▆", "▇", "█"};
  return kBlocks[static_cast<std::size_t>(eighths)];
}

using Look = std::vector<std::size_t>::const_iterator;

struct Majority {
  std::size_t look = 0;
  std::ptrdiff_t count = 0;
};

Majority majority(Look begin, Look end) {
  Majority best;
  for (Look look = begin; look != end; ++look) {
    const std::ptrdiff_t count = std::count(begin, end, *look);
    if (count > best.count) best = {*look, count};
  }
  return best;
}

// A character has two colours, one below the other: where to change is chosen so that most of the
// cell is right. Above the top of a column is the open air, which leaves one colour.
Cell block_cell(const std::vector<std::size_t>& eighths) {
  const auto size = static_cast<int>(eighths.size());
  const Majority whole = majority(eighths.begin(), eighths.end());
  Cell best{block(size), kKindLooks[whole.look].colour, Cell::kNoColour};
  std::ptrdiff_t best_count = whole.count;
  for (int split = 1; size == kEighths && split < kEighths; ++split) {
    const Majority lower = majority(eighths.begin(), eighths.begin() + split);
    const Majority upper = majority(eighths.begin() + split, eighths.end());
    if (lower.count + upper.count <= best_count) continue;
    best_count = lower.count + upper.count;
    best = {block(split), kKindLooks[lower.look].colour, kKindLooks[upper.look].colour};
  }
  return best;
}

// A round distance between labels, in the unit that suits the size: 1, 2, 2.5 or 5, or that times a
// power of ten, such that there are at most `count` labels. Bytes are not divided.
double label_distance(double top, int count) {
  double unit = 1;
  while (unit * 1024 <= top) unit *= 1024;
  const double rough = top / unit / count;
  if (unit == 1) return std::max(1.0, std::ceil(rough));
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= rough) return factor * power * unit;
  }
  return 10 * power * unit;
}

// "2.5 GiB": without zeros at the end.
std::string label_of(double bytes) {
  static constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g %s", bytes, kUnits[unit]);
  return text.data();
}

}  // namespace

std::string margin(const std::string& label) {
  const std::size_t width = display_width(label);
  return std::string(width < kLabelColumns ? kLabelColumns - width : 0, ' ') + label + " ";
}

const MemorySample& fullest(const std::vector<MemorySample>& samples) {
  return *std::max_element(
      samples.begin(), samples.end(),
      [](const MemorySample& a, const MemorySample& b) { return a.total_bytes < b.total_bytes; });
}

MemoryArea::MemoryArea(const std::vector<MemorySample>& samples, int rows, double top_bytes,
                       const Style& style)
    : samples_(samples),
      rows_(rows),
      top_bytes_(top_bytes),
      style_(style),
      canvas_(static_cast<int>(samples.size()), rows + 1) {
  for (int column = 0; column < canvas_.columns(); ++column) draw_column(column);
}

// In eighths of a row.
int MemoryArea::height(std::int64_t bytes) const {
  return static_cast<int>(std::lround(static_cast<double>(bytes) / top_bytes_ * rows_ * kEighths));
}

// The row that this height lies in.
int MemoryArea::row_of(double bytes) const {
  return std::max(0, static_cast<int>(std::ceil(bytes / top_bytes_ * rows_)) - 1);
}

// The look of each eighth of a column from the bottom up, as an index into kKindLooks.
std::vector<std::size_t> MemoryArea::stack(const MemorySample& sample) const {
  std::vector<std::size_t> eighths;
  std::int64_t below = 0;
  for (std::size_t look = 0; look < kKindLooks.size(); ++look) {
    below += sample.of(kKindLooks[look].kind);
    const auto end = static_cast<std::size_t>(std::max(0, height(below)));
    if (end > eighths.size()) eighths.resize(end, look);
  }
  return eighths;
}

void MemoryArea::draw_column(int column) {
  const std::vector<std::size_t> eighths = stack(samples_[static_cast<std::size_t>(column)]);
  const Look end = eighths.end();
  Look begin = eighths.begin();
  for (int row = 0; row < rows_ && begin != end; ++row) {
    const Look next = begin + std::min<std::ptrdiff_t>(kEighths, end - begin);
    const std::vector<std::size_t> cell(begin, next);
    begin = next;
    canvas_.set(column, row, style_.colour && style_.unicode ? block_cell(cell) : plain_cell(cell));
  }
}

// Without blocks and colours a cell shows what most of it is, and nothing if that is little.
Cell MemoryArea::plain_cell(const std::vector<std::size_t>& eighths) const {
  constexpr std::size_t kLittle = 3;
  if (eighths.size() < kLittle) return Cell{};
  const KindLook& look = kKindLooks[majority(eighths.begin(), eighths.end()).look];
  return Cell{style_.unicode ? look.texture : look.letter, look.colour, Cell::kNoColour};
}

void MemoryArea::draw_line(std::int64_t bytes, const char* glyph, int colour) {
  const int row = row_of(static_cast<double>(bytes));
  for (int column = 0; column < canvas_.columns(); ++column) {
    canvas_.set_if_blank(column, row, Cell{glyph, colour, Cell::kNoColour});
  }
}

void MemoryArea::draw_peak(const std::vector<std::string>& texts) {
  const MemorySample& peak = fullest(samples_);
  const int column = static_cast<int>(&peak - samples_.data());
  const int row = row_of(static_cast<double>(peak.total_bytes)) + 1;
  canvas_.write(column, row, glyphs_for(style_).peak, Cell::kNoColour);
  for (const std::string& text : texts) {
    const std::string padded = " " + text + " ";
    const int width = static_cast<int>(display_width(padded));
    const bool fits_right = column + width <= canvas_.columns();
    if (!fits_right && column < width) continue;
    canvas_.write(fits_right ? column + 1 : column - width, row, padded, Cell::kNoColour);
    return;
  }
}

std::vector<std::string> MemoryArea::labels() const {
  constexpr int kMostLabels = 6;
  constexpr int kRowsForLabel = 2;
  std::vector<std::string> labels(static_cast<std::size_t>(canvas_.rows()));
  const double distance =
      label_distance(top_bytes_, std::clamp(rows_ / kRowsForLabel, 1, kMostLabels));
  // What rounding adds must not cost the label at the very top.
  const int count = static_cast<int>(top_bytes_ / distance * 1.0001);
  for (int i = 1; i <= count; ++i) {
    labels[static_cast<std::size_t>(row_of(distance * i))] = label_of(distance * i);
  }
  return labels;
}

std::string MemoryArea::text() const {
  const ChartGlyphs& glyphs = glyphs_for(style_);
  const std::vector<std::string> row_labels = labels();
  std::string text;
  for (int row = canvas_.rows() - 1; row >= 0; --row) {
    const std::string& label = row_labels[static_cast<std::size_t>(row)];
    text += margin(label) + (label.empty() ? glyphs.axis : glyphs.axis_mark) +
            canvas_.row_text(row, style_) + "\n";
  }
  return text;
}

}  // namespace lowtide::cli
