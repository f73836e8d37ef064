// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/session.h"
#include "train/training.h"

namespace lowtide::train {

struct DatedEvaluation {
  // So many were done, in all runs together.
  std::int64_t step = 0;
  Evaluation evaluation;
};

// What a training came to.
struct Report {
  TrainingOptions training;
  std::string policy;
  std::int64_t budget_bytes = 0;
  std::optional<std::int64_t> plain_peak_bytes;
  // Of all runs together, and of this one.
  std::int64_t steps_done = 0;
  std::int64_t steps = 0;
  // The median of this run's steps; nothing if it had none.
  std::optional<double> step_seconds;
  // Of the last step.
  std::optional<double> loss;
  // At the end.
  std::optional<Evaluation> evaluation;
  // On the way.
  std::vector<DatedEvaluation> evaluations;
  // When the training was done, before the last evaluation.
  SessionStats stats;
  bool was_interrupted = false;
  // Where the training can be taken up again; empty: nowhere.
  std::string checkpoint;
  // For `lowtide report`; empty if nobody asked, or if it was stopped before a step could be kept.
  std::string record;
};

}  // namespace lowtide::train
