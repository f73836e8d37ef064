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
  // No plan keeps the budget.
  kDoesNotFit = 3,
};

// Something on the command line is wrong: a name, a size, a combination of options.
class UsageError : public InvalidInput {
 public:
  using InvalidInput::InvalidInput;
};

}  // namespace lowtide::cli
