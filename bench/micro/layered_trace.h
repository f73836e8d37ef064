// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "lowtide/trace.h"

namespace lowtide::bench {

// A training step of about `ops` ops in the shape of a residual net: blocks of three layers with a
// skip, each layer with a weight, a backward pass that reads what the forward pass made, and an
// in-place update of every weight. Sizes and times vary from layer to layer.
Trace layered_trace(int ops);

}  // namespace lowtide::bench
