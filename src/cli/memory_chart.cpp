// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/memory_chart.h"

#include <algorithm>
#include <vector>

#include "base/bytes.h"
#include "cli/chart_look.h"
#include "cli/memory_area.h"
#include "cli/memory_samples.h"
#include "cli/table.h"
#include "cli/time_axis.h"

namespace lowtide::cli {
namespace {

using base::format_bytes;

constexpr int kNarrowest = 40;

// A line across the picture.
struct Line {
  std::int64_t bytes = 0;
  const char* name = "";
  const char* glyph = "";
  int colour = Cell::kNoColour;
};

// A line far above the peak would squeeze all the rest into the lower half.
std::vector<Line> shown_lines(const Timeline& timeline, const ChartOptions& options,
                              const ChartGlyphs& glyphs) {
  std::vector<Line> lines;
  const auto add = [&](const std::optional<std::int64_t>& bytes, const char* name,
                       const char* glyph, int colour) {
    const bool is_near = bytes && *bytes / 2 <= timeline.peak_bytes;
    if (is_near) lines.push_back({*bytes, name, glyph, colour});
  };
  add(options.budget_bytes, "budget", glyphs.budget, kBudgetColour);
  add(options.plain_peak_bytes, "plain peak", glyphs.plain_peak, kPlainPeakColour);
  return lines;
}

// An entry of the legend: what it is drawn with, and what that means.
struct Entry {
  const char* glyph = "";
  int colour = Cell::kNoColour;
  std::string text;
};

std::string legend_line(const std::string& label, const std::vector<Entry>& entries,
                        std::size_t columns, const Style& style) {
  constexpr std::size_t kGap = 3;
  std::string text = margin(label) + " ";
  std::size_t used = 0;
  for (const Entry& entry : entries) {
    const std::size_t width = display_width(entry.glyph) + 1 + display_width(entry.text);
    if (used > 0 && used + kGap + width > columns) {
      text += "\n" + margin("") + " ";
      used = 0;
    }
    if (used > 0) text += std::string(kGap, ' ');
    text += paint(entry.glyph, entry.colour, style) + " " + entry.text;
    used += width + (used > 0 ? kGap : 0);
  }
  return entries.empty() ? "" : text + "\n";
}

std::vector<Entry> kind_entries(const std::vector<MemorySample>& samples, const Style& style) {
  std::vector<Entry> entries;
  const MemorySample& peak = fullest(samples);
  for (const KindLook& look : kKindLooks) {
    const bool occurs =
        std::any_of(samples.begin(), samples.end(),
                    [&look](const MemorySample& sample) { return sample.of(look.kind) > 0; });
    if (!occurs) continue;
    const char* glyph = !style.unicode ? look.letter : style.colour ? "█" : look.texture;
    entries.push_back({glyph, look.colour,
                       std::string(to_string(look.kind)) + " " + format_bytes(peak.of(look.kind))});
  }
  return entries;
}

std::string legend(const std::vector<MemorySample>& samples, const std::vector<Line>& lines,
                   const Style& style) {
  std::vector<Entry> line_entries;
  line_entries.reserve(lines.size());
  for (const Line& line : lines) {
    line_entries.push_back(
        {line.glyph, line.colour, std::string(line.name) + " " + format_bytes(line.bytes)});
  }
  const std::size_t columns = samples.size();
  return legend_line("at peak", kind_entries(samples, style), columns, style) +
         legend_line("lines", line_entries, columns, style);
}

}  // namespace

std::string draw_memory(const Trace& trace, const Timeline& timeline, const ChartOptions& options,
                        const Style& style) {
  if (timeline.ticks.empty()) return "(the step has no ops)\n";
  const int columns = std::max(options.columns, kNarrowest) - kLabelColumns - 2;
  const std::vector<MemorySample> samples =
      sample_memory(timeline, static_cast<std::size_t>(columns));
  const std::vector<Line> lines = shown_lines(timeline, options, glyphs_for(style));

  std::int64_t top = std::max<std::int64_t>(1, fullest(samples).total_bytes);
  for (const Line& line : lines) top = std::max(top, line.bytes);
  MemoryArea area(samples, options.rows, static_cast<double>(top), style);
  for (const Line& line : lines) area.draw_line(line.bytes, line.glyph, line.colour);
  const std::string peak = "peak " + format_bytes(timeline.peak_bytes);
  const std::string op = timeline.peak_op.valid() ? ", " + trace.op_name(timeline.peak_op) : "";
  area.draw_peak({peak + op, peak});
  return area.text() + time_axis(trace, samples, timeline.seconds, style) + "\n" +
         legend(samples, lines, style);
}

}  // namespace lowtide::cli
