// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/torch/progress_line.h"
#include "train/run.h"

namespace lowtide::cli {

// Calls `work` with hooks that show progress on the console and stop it when the user asks for
// that. What torch throws becomes an Error of one line.
void run_with_progress(Console& console, std::int64_t batch,
                       const std::function<void(const train::Hooks&)>& work);

// Where a step of the training was to be recorded, and the user stopped it: says so.
ExitCode stopped_before_recording(Console& console);

}  // namespace lowtide::cli
