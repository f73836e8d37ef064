// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

namespace lowtide::cli {

// While it lives, the first Ctrl-C (or SIGTERM) is only noted, so that the step can be finished; a
// second one ends the process at once. One at a time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  static bool came();
};

}  // namespace lowtide::cli
