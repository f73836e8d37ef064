// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "lowtide/trace.h"

namespace lowtide::support {

// A valid trace with this many ops, made from the seed alone: the same on every machine. It mixes
// everything a trace can hold: sources and results of all kinds, views, in-place writes with and
// without a read, side effects, late frees, pinned storages, codecs, options, workspace, measured
// and unmeasured times, layers, and ops that may not be replayed. Phases come in the order of a
// training step. Sizes and times are small whole numbers, so that sums are exact.
// Requires: ops >= 0.
Trace random_trace(std::uint64_t seed, int ops);

}  // namespace lowtide::support
