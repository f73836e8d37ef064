// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "lowtide/trace.h"
#include "report/run_record.h"
#include "train/run.h"
#include "train/training.h"

namespace lowtide::train {

// One step of a training as it was captured, with the names of the model's layers, and how long it
// took, which is more than without the watching.
struct Profile {
  Trace trace;
  double step_seconds = 0;
  // The same step and the machine it ran on, as plans for that machine take them.
  report::RunRecord at_home;
};

// Trains without a budget until steps repeat themselves, and captures one. Fills in what the
// options leave to the data. Nothing if the user stopped it. Throws as run() does.
std::optional<Profile> profile(TrainingOptions& options, const Hooks& hooks);

}  // namespace lowtide::train
