// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/memory_samples.h"

#include <algorithm>

namespace lowtide::cli {
namespace {

std::size_t column_of(double seconds, double column_seconds, std::size_t count) {
  if (column_seconds <= 0 || seconds <= 0) return 0;
  return std::min(static_cast<std::size_t>(seconds / column_seconds), count - 1);
}

}  // namespace

std::vector<MemorySample> sample_memory(const Timeline& timeline, std::size_t count) {
  std::vector<MemorySample> samples(count);
  const double column_seconds = timeline.seconds / static_cast<double>(count);
  for (std::size_t i = 0; i < timeline.ticks.size(); ++i) {
    const TickUse& tick = timeline.ticks[i];
    // What a tick leaves behind stays until the next one begins.
    const bool is_last = i + 1 == timeline.ticks.size();
    const double end = is_last ? timeline.seconds : timeline.ticks[i + 1].start_seconds;
    const std::size_t first = column_of(tick.start_seconds, column_seconds, count);
    // A tick that ends where a column begins is no part of that column.
    const std::size_t last =
        std::max(first, column_of(end - column_seconds * 1e-6, column_seconds, count));
    for (std::size_t column = first; column <= last; ++column) {
      MemorySample& sample = samples[column];
      const double middle = (static_cast<double>(column) + 0.5) * column_seconds;
      if (!sample.op.valid() || tick.start_seconds <= middle) sample.op = tick.op;
      if (tick.total_bytes() < sample.total_bytes) continue;
      sample.bytes = tick.bytes;
      sample.total_bytes = tick.total_bytes();
    }
  }
  return samples;
}

}  // namespace lowtide::cli
