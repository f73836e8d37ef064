// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "lowtide/plan.h"

namespace lowtide::plan {

// A problem made from another one, and the way back: for each of its ops and storages the one that
// it came from, or an id that is not valid.
struct Transformed {
  Problem problem;
  std::vector<OpId> op_from;
  std::vector<StorageId> storage_from;
};

// Asks for the ops from `first` to `last` to be carried out in `parts` sub-batches, one after the
// other through the whole range.
struct SplitRequest {
  OpId first;
  OpId last;
  std::int32_t parts = 2;
  // Storages with a batch dimension.
  std::vector<StorageId> batched;
};

// Splits a batch. Op `conv` becomes `conv/0`, `conv/1`, …; a batched storage that only ops of the
// range use becomes one slice for each part, of bytes over parts, rounded up. Everything else that
// the range writes stays whole: the first part writes it, and later ones write it in place,
// depending on what is there (a slice of a batched storage, a sum of gradients otherwise).
// Device time, flops, traffic and workspace are divided; host time is not, since each part is
// launched on its own.
// Throws InvalidInput if an op of the range touches nothing batched, or reads a sum that the range
// has not finished yet.
Transformed split(const Problem& problem, const SplitRequest& request);

// Replaces the trace. `op_from` says for each op of the new trace which old one it stands for, if
// any; storages are matched by name. Throws InvalidInput if the map does not fit the traces.
Transformed rewrite(const Problem& problem, std::shared_ptr<const Trace> new_trace,
                    std::vector<OpId> op_from);

}  // namespace lowtide::plan
