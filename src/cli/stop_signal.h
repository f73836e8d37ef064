// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "cli/exit_code.h"

namespace lowtide::cli {

// While it lives, the first Ctrl-C (or SIGTERM) is only noted, so that a step can be finished, or
// what a search has found so far be kept; a second one ends the process at once. One at a time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  static bool came();
};

// That the user stopped it, if so, else `code`.
ExitCode unless_stopped(ExitCode code);

}  // namespace lowtide::cli
