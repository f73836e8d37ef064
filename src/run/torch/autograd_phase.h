// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace lowtide::run {

// Whether this thread is carrying out a node of an autograd graph.
bool is_in_backward();

// The number of that node. In the forward pass, that of the node which this thread made last: an op
// that has one runs right after it was made.
std::uint64_t autograd_node();

}  // namespace lowtide::run
