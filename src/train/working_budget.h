// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

#include "lowtide/errors.h"
#include "train/memory.h"
#include "train/run.h"

namespace lowtide::train {

// A training that was refused a budget, and why.
struct RefusedTraining {
  TrainingOptions training;
  MemoryOptions memory;
  std::shared_ptr<const zoo::DataSet> data;
  std::int64_t budget_bytes;
  OutOfMemory refusal;
};

// The refusal, which knows of one op only, and with it the smallest budget, within an eighth, in
// which the first steps went through; without, if the user stops the search or it finds none.
// Requires: the refused training and its session are gone.
OutOfMemory with_working_budget(const RefusedTraining& refused, const Hooks& hooks);

}  // namespace lowtide::train
