// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lowtide/simulate.h"

namespace lowtide::cli {

// What a column of the chart shows: a stretch of the step.
struct MemorySample {
  // By kind, at the fullest moment of the stretch.
  std::array<std::int64_t, kStorageKinds> bytes{};
  std::int64_t total_bytes = 0;
  // The op at the middle of the stretch; it tells the phase.
  OpId op;

  std::int64_t of(StorageKind kind) const { return bytes[static_cast<std::size_t>(kind)]; }
};

// Cuts the step into `count` stretches of equal time. No peak is lost, however short.
// Requires: the timeline has ticks and count > 0.
std::vector<MemorySample> sample_memory(const Timeline& timeline, std::size_t count);

}  // namespace lowtide::cli
