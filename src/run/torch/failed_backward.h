// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

namespace lowtide::run {

// A backward pass that ends by an exception leaves nodes that were due in a queue of the thread
// that began it, and with them the rest of the graph and all that it saved: later passes take their
// own nodes from the queue first and leave these there. Gives this thread a new queue.
// Requires: no backward pass of this thread is under way.
void forget_failed_backward();

}  // namespace lowtide::run
