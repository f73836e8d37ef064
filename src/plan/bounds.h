// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/machine.h"
#include "lowtide/trace.h"
#include "trace/lifetimes.h"

namespace lowtide::plan {

// What the step takes if nothing is evicted, and the least that any plan could take.
struct MemoryBounds {
  std::int64_t plain_peak_bytes = 0;
  OpId plain_peak_op;
  // Inputs, results and workspace of the hungriest op as it was traced, pinned storages included.
  // A plan that chooses another implementation for that op may need less.
  std::int64_t working_set_bytes = 0;
  OpId working_set_op;
  // Bytes on the device while each op runs, nothing evicted.
  std::vector<std::int64_t> plain_bytes;
};

MemoryBounds memory_bounds(const Trace& trace, const Machine& machine);
// For a caller that has the lifetimes already. Requires: they are of the traced order.
MemoryBounds memory_bounds(const Trace& trace, const trace::Lifetimes& lifetimes,
                           const Machine& machine);

}  // namespace lowtide::plan
