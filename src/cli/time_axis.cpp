// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/time_axis.h"

#include "base/bytes.h"
#include "cli/canvas.h"
#include "cli/chart_look.h"

namespace lowtide::cli {
namespace {

constexpr int kNoColour = Cell::kNoColour;

// Columns of the marks on the axis.
std::vector<int> time_marks(int columns) {
  constexpr int kStretches = 4;
  std::vector<int> marks;
  for (int i = 0; i <= kStretches; ++i) marks.push_back(i * (columns - 1) / kStretches);
  return marks;
}

std::string floor_line(int columns, const ChartGlyphs& glyphs, const Style& style) {
  Canvas line(columns, 1);
  for (int column = 0; column < columns; ++column) line.write(column, 0, glyphs.floor, kNoColour);
  for (const int mark : time_marks(columns)) line.write(mark, 0, glyphs.floor_mark, kNoColour);
  return margin("0") + glyphs.corner + line.row_text(0, style) + "\n";
}

std::vector<Phase> phases_of(const Trace& trace, const std::vector<MemorySample>& samples) {
  std::vector<Phase> phases;
  for (const MemorySample& sample : samples) {
    const bool is_op = sample.op.valid() && sample.op < trace.end();
    const Phase before = phases.empty() ? Phase::kOther : phases.back();
    phases.push_back(is_op ? trace.op(sample.op).phase : before);
  }
  return phases;
}

// The name of the phase in the middle of its stretch of the line, as much of it as there is room
// for.
void write_phase_name(Canvas& line, int begin, int end, Phase phase) {
  constexpr std::size_t kShort = 3;
  const std::string name(to_string(phase));
  const std::string start = name.substr(0, kShort);
  for (const std::string& text : {" " + name + " ", " " + start + " ", start}) {
    const int spare = end - begin - 2 - static_cast<int>(text.size());
    if (spare < 0) continue;
    line.write(begin + 1 + spare / 2, 0, text, kNoColour);
    return;
  }
}

std::string phase_line(const std::vector<Phase>& phases, const ChartGlyphs& glyphs,
                       const Style& style) {
  const auto columns = static_cast<int>(phases.size());
  Canvas line(columns, 1);
  for (int column = 0; column < columns; ++column) {
    line.write(column, 0, glyphs.phase_line, kNoColour);
  }
  for (int begin = 0, end = 0; begin < columns; begin = end) {
    const Phase phase = phases[static_cast<std::size_t>(begin)];
    while (end < columns && phases[static_cast<std::size_t>(end)] == phase) ++end;
    line.write(begin, 0, begin == 0 ? glyphs.phase_start : glyphs.phase_change, kNoColour);
    write_phase_name(line, begin, end, phase);
  }
  line.write(columns - 1, 0, glyphs.phase_end, kNoColour);
  return margin("") + " " + line.row_text(0, style) + "\n";
}

std::string time_line(int columns, double seconds, const Style& style) {
  Canvas line(columns, 1);
  const std::vector<int> marks = time_marks(columns);
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(marks.size() - 1);
    const std::string time = base::format_seconds(seconds * share);
    const int width = static_cast<int>(time.size());
    // Centred under its mark, but the last one ends there.
    const bool is_last = i + 1 == marks.size();
    line.write(i == 0 ? 0 : is_last ? columns - width : marks[i] - width / 2, 0, time, kNoColour);
  }
  return margin("") + " " + line.row_text(0, style) + "\n";
}

}  // namespace

std::string time_axis(const Trace& trace, const std::vector<MemorySample>& samples, double seconds,
                      const Style& style) {
  const ChartGlyphs& glyphs = glyphs_for(style);
  const auto columns = static_cast<int>(samples.size());
  return floor_line(columns, glyphs, style) + phase_line(phases_of(trace, samples), glyphs, style) +
         time_line(columns, seconds, style);
}

}  // namespace lowtide::cli
