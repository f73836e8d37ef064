// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "train/run.h"

// How large a batch may be within a budget: plainly, that is as long as nothing has to be evicted,
// and under Lowtide.

namespace lowtide::train {

// Some steps of a training from its beginning.
struct BatchTry {
  std::int64_t batch = 0;
  // Why it does not train, mostly for want of memory; empty: it does.
  std::string refusal{};
  // Null where it was for want of memory: what else torch said.
  std::exception_ptr error{};
  // Nothing had to leave the device.
  bool is_plain = false;
  // A session kept the budget; else the steps were torch's alone, without any.
  bool is_inside_session = false;
  double step_seconds = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t evictions = 0;

  bool fits() const { return refusal.empty(); }
  double examples_per_second() const {
    return step_seconds > 0 ? static_cast<double>(batch) / step_seconds : 0;
  }
};

struct MaxBatch {
  TrainingOptions training;
  std::string policy;
  std::int64_t budget_bytes = 0;
  // No batch was to be larger, be it for want of data.
  std::int64_t most = 0;
  // The largest of those in which nothing had to be evicted, with the step time that it has without
  // a session; nothing if there is none.
  std::optional<BatchTry> plain;
  // The largest, and the one with the most examples a second.
  BatchTry managed;
  BatchTry fastest;
  // By batch.
  std::vector<BatchTry> tries;
  // Then nothing but the tries counts.
  bool was_interrupted = false;
};

// Looks at training and memory of the options. A batch that torch refuses, for whatever reason, is
// one that does not train. Throws OutOfMemory if no batch fits, what torch threw if the smallest
// failed for another reason, InvalidInput without a budget in bytes, and else as run() does.
MaxBatch max_batch(RunOptions options, std::int64_t most, const Hooks& hooks);

}  // namespace lowtide::train
