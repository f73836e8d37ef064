// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/canvas.h"
#include "cli/console.h"
#include "cli/memory_samples.h"

namespace lowtide::cli {

// The area of the picture in which memory is drawn, one column for each sample: kinds stacked,
// lines across where nothing else is, and a mark above the fullest column.
class MemoryArea {
 public:
  // `top_bytes` is the height of the area. Requires: top_bytes > 0, at least one sample.
  MemoryArea(const std::vector<MemorySample>& samples, int rows, double top_bytes,
             const Style& style);

  void draw_line(std::int64_t bytes, const char* glyph, int colour);
  // The first of the texts for which there is room goes beside the mark.
  void draw_peak(const std::vector<std::string>& texts);

  // All rows with the axis and its labels.
  std::string text() const;

 private:
  int height(std::int64_t bytes) const;
  int row_of(double bytes) const;
  std::vector<std::size_t> stack(const MemorySample& sample) const;
  void draw_column(int column);
  Cell plain_cell(const std::vector<std::size_t>& eighths) const;
  std::vector<std::string> labels() const;

  const std::vector<MemorySample>& samples_;
  int rows_;
  double top_bytes_;
  const Style& style_;
  // One row more than the area has, for the mark above the peak.
  Canvas canvas_;
};

// The fullest sample. Requires: at least one.
const MemorySample& fullest(const std::vector<MemorySample>& samples);

}  // namespace lowtide::cli
