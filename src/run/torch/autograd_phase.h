// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

namespace lowtide::run {

// Whether this thread is carrying out a node of an autograd graph.
bool is_in_backward();

}  // namespace lowtide::run
