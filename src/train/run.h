// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "train/memory.h"
#include "train/report.h"
#include "train/training.h"

namespace lowtide::train {

struct RunOptions {
  TrainingOptions training;
  MemoryOptions memory;
  // One of the two; neither: one epoch.
  std::int64_t steps = 0;
  std::int64_t epochs = 0;
  // Empty: no checkpoints.
  std::string checkpoint;
  // So many steps from one checkpoint to the next; there is one at the end too.
  std::int64_t checkpoint_every = 100;
  bool resume = false;
  // Of the schedule, what the user named. Where a training is resumed, the rest is as it was.
  AskedSchedule asked{};
  // So many steps from one evaluation to the next; 0: there is one at the end only.
  std::int64_t evaluate_every = 0;
  bool is_deterministic = false;
  // Report::record is wanted.
  bool is_recorded = false;
};

struct Progress {
  std::int64_t step = 0;
  std::int64_t steps = 0;
  double loss = 0;
  // Since this run began.
  double seconds = 0;
  std::int64_t steps_of_run = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t budget_bytes = 0;
};

// How a run talks to whoever began it.
struct Hooks {
  std::function<void(const Progress&)> on_step = [](const Progress&) {};
  // On the way, that is all but the last.
  std::function<void(const DatedEvaluation&)> on_evaluation = [](const DatedEvaluation&) {};
  // What a user may want to know, in one line.
  std::function<void(const std::string&)> say = [](const std::string&) {};
  // Asked after every step: then the training stops in good order.
  std::function<bool()> is_stopped = [] { return false; };
};

// Trains. Throws InvalidInput for options that make no sense, OutOfMemory if the budget cannot be
// kept, IoError and DeviceError for what those are.
Report run(RunOptions options, const Hooks& hooks);

}  // namespace lowtide::train
