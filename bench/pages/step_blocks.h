// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/plan.h"

namespace lowtide::bench {

// A block of device memory comes or goes.
struct BlockEvent {
  // Among the blocks of a step; the same in both of its events.
  std::size_t block = 0;
  bool comes = true;
};

// One of a step's blocks. Of a storage that is there when the step begins, or still there when it
// ends, the block is handed on from step to step.
struct StepBlock {
  std::int64_t bytes = 0;
  StorageId storage{};
  bool is_there_at_start = false;
  bool is_there_at_end = false;
};

// The large blocks of a step under a plan, in the order in which the simulator has them come and
// go.
struct StepBlocks {
  std::vector<StepBlock> blocks;
  std::vector<BlockEvent> events;
  double seconds = 0;
};

StepBlocks blocks_under(const Problem& problem, const Plan& plan, std::int64_t least_bytes);

}  // namespace lowtide::bench
