// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/memory_samples.h"

#include <gtest/gtest.h>

namespace lowtide::cli {
namespace {

TickUse tick(int op, double start, double end, std::int64_t bytes) {
  TickUse use{.op = OpId{op}, .start_seconds = start, .end_seconds = end};
  use.bytes[0] = bytes;
  return use;
}

std::vector<std::int64_t> totals(const Timeline& timeline, std::size_t count) {
  std::vector<std::int64_t> result;
  for (const MemorySample& sample : sample_memory(timeline, count)) {
    result.push_back(sample.total_bytes);
  }
  return result;
}

using Bytes = std::vector<std::int64_t>;

TEST(MemorySamples, ShortPeakIsNotLost) {
  Timeline timeline;
  timeline.seconds = 10;
  timeline.ticks = {tick(0, 0, 4.9, 1), tick(1, 4.9, 4.901, 9), tick(2, 4.901, 10, 2)};
  EXPECT_EQ(totals(timeline, 2), (Bytes{9, 2}));
}

TEST(MemorySamples, MemoryStaysWhileTheDeviceWaits) {
  Timeline timeline;
  timeline.seconds = 4;
  timeline.ticks = {tick(0, 0, 1, 5), tick(1, 3, 4, 2)};
  EXPECT_EQ(totals(timeline, 4), (Bytes{5, 5, 5, 2}));
}

TEST(MemorySamples, TheOpIsTheOneAtTheMiddle) {
  Timeline timeline;
  timeline.seconds = 4;
  timeline.ticks = {tick(0, 0, 0.5, 5), tick(1, 0.5, 4, 2)};
  const std::vector<MemorySample> samples = sample_memory(timeline, 2);
  EXPECT_EQ(samples[0].op, OpId{1});
  EXPECT_EQ(samples[0].total_bytes, 5);
}

TEST(MemorySamples, StepWithoutTimeHasAllInTheFirstColumn) {
  Timeline timeline;
  timeline.ticks = {tick(0, 0, 0, 5), tick(1, 0, 0, 7)};
  EXPECT_EQ(totals(timeline, 2), (Bytes{7, 0}));
}

}  // namespace
}  // namespace lowtide::cli
