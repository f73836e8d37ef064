// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "lowtide/session.h"
#include "train/memory.h"
#include "train/run.h"
#include "train/training.h"

namespace lowtide::ctdr {

struct RecoveryOptions {
  train::MemoryOptions memory{};
  // 0: no budget.
  std::int64_t budget_bytes = 0;
  // The accuracy at which it is back.
  double wanted_accuracy = 0;
  // At most so many rounds through the data.
  std::int64_t epochs = 1;
  // Of the training's learning rate, at the start; from there down along half a cosine.
  double rate_share = 0.1;
  // From which norms take their statistics before anything is trained.
  std::int64_t norm_batches = 100;
  // From one evaluation to the next; 0: twice an epoch.
  std::int64_t evaluate_every = 0;
  // Whether the steps that were taken when the user stops are a result.
  bool keeps_interrupted = false;
};

struct Recovery {
  // With the norms' statistics taken anew.
  train::Evaluation after_decomposition;
  train::Evaluation after_fine_tuning;
  bool is_back = false;
  // Stopped by the user: neither is the accuracy back nor are the epochs out.
  bool was_interrupted = false;
  std::int64_t norms = 0;
  std::int64_t steps = 0;
  // After which step after_fine_tuning was found; less than `steps` where it was interrupted.
  std::int64_t evaluated_step = 0;
  // Of the steps alone, and their median.
  double seconds = 0;
  std::optional<double> step_seconds;
  std::int64_t peak_bytes = 0;
};

// Called when the model is as good as it gets, or was when the user stopped, while the session is
// open.
using OnRecovered = std::function<void(const train::Training&, Session&)>;

// Takes the statistics of norms anew and trains on, inside the budget, until the accuracy is back
// or the epochs are out. The optimizer's states start over. Nothing if the user stopped it before a
// step was taken, or asked for nothing of it then. Throws OutOfMemory if the budget cannot be kept,
// InvalidInput without data to evaluate on.
std::optional<Recovery> recover(const train::TrainingOptions& training,
                                const std::shared_ptr<const zoo::DataSet>& data,
                                const RecoveryOptions& options, const OnRecovered& on_recovered,
                                const train::Hooks& hooks);

}  // namespace lowtide::ctdr
