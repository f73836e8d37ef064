// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lowtide/machine.h"
#include "lowtide/trace.h"

// What torch's allocator does in a training whose steps are all like the traced one.

namespace lowtide::estimate {

struct StepPeak {
  // What torch.cuda.max_memory_allocated() says: blocks as they were split, not as they were asked
  // for.
  std::int64_t allocated_bytes = 0;
  std::int64_t reserved_bytes = 0;
  // Where allocated_bytes was reached; not valid for a step without ops.
  OpId op;
  // How many of the op's results were there by then, and what it had taken beside them.
  std::size_t results = 0;
  std::int64_t workspace_bytes = 0;
};

// When an optimizer makes its states.
enum class StatesMade {
  // As torch.optim does: they are not there during the first forward and backward pass.
  kInFirstUpdate,
  // As `lowtide train` does.
  kAtStart
};

struct WalkOptions {
  StatesMade states = StatesMade::kInFirstUpdate;
  // By op: what it takes and gives back between its first result and the others, which a trace does
  // not say. Empty: guessed for the backward ops of convolutions, which are the ones that do so.
  std::vector<std::int64_t> early_workspace_bytes;
};

struct TrainingPeaks {
  // No gradients are there from a step before.
  StepPeak first;
  // The second step, and thereby every further one; what is reserved counts from the first.
  StepPeak steady;
};

// Requires: a trace of a step that is not the first, as `lowtide profile` captures it. Takes time
// in proportion to what the step allocates.
TrainingPeaks walk_training(const Trace& trace, const AllocatorRules& rules,
                            const WalkOptions& options);

// A storage that is there at a peak, or what the op has taken for itself.
struct Held {
  // Not valid for what the op has taken.
  StorageId storage;
  std::int64_t bytes = 0;
};

// The bytes that storages of each kind hold at the peak of a step that is not the first, with what
// the op has taken, as they were asked for.
std::array<std::int64_t, kStorageKinds> bytes_by_kind_at(const Trace& trace, const StepPeak& peak);
// The largest of what is there then, largest first.
std::vector<Held> largest_at(const Trace& trace, const StepPeak& peak, std::size_t limit);

}  // namespace lowtide::estimate
