// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "lowtide/errors.h"

namespace lowtide::cli {

// What the program tells its caller; the same for every verb.
enum class ExitCode : int {
  kDone = 0,
  // A file cannot be read or written, a trace or plan is wrong, or Lowtide is.
  kFailed = 1,
  // The command line itself is wrong.
  kUsage = 2,
  // No plan keeps the budget, or the training cannot.
  kDoesNotFit = 3,
  // The user stopped it (128 and the number of SIGINT, as shells have it).
  kInterrupted = 130,
};

// Something on the command line is wrong: a name, a size, a combination of options.
class UsageError : public InvalidInput {
 public:
  using InvalidInput::InvalidInput;
};

}  // namespace lowtide::cli
