// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/trace.h"

namespace lowtide::support {

// Training steps of a few ops, each about one thing that a trace can hold, as (name, text form):
// a plain chain, residual blocks, skips as in a U-Net, writes in place, BatchNorm's side effects,
// random ops, one parameter that every layer reads, ops with several results, optimizers with
// state, late frees, pinned storages. Sizes are small whole numbers, an op takes a few seconds.
const std::vector<std::pair<std::string, std::string>>& small_steps();

// Forward and backward pass of a net of 2 to 4 layers, made from the seed alone: at most 10 ops and
// few values, so that all plans for it can be tried. Some layers skip back, work in place, write a
// side effect, or may not be replayed.
Trace tiny_step(std::uint64_t seed);

}  // namespace lowtide::support
