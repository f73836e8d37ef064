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

// What a search ends with; each has those before it.
enum class BatchGoal : std::uint8_t { kPlain, kManaged, kFastest };

struct BatchSearch {
  BatchGoal goal = BatchGoal::kFastest;
  // Tried first. One near the end saves tries.
  std::int64_t first = 2;
  // No larger one is tried.
  std::int64_t most = 65536;
  // A larger batch may be missed by so much, as a share of what is found.
  double slack = 0;
};

struct MaxBatch {
  BatchGoal goal = BatchGoal::kFastest;
  TrainingOptions training;
  std::string policy;
  // What was searched within; on a CPU no more than is free, whatever was asked for.
  std::int64_t budget_bytes = 0;
  std::int64_t asked_bytes = 0;
  // No batch was to be larger, be it for want of data.
  std::int64_t most = 0;
  // The largest of those in which nothing had to be evicted, where the fastest is looked for with
  // the step time that it has without a session; nothing if there is none.
  std::optional<BatchTry> plain;
  // The largest, and the one with the most examples a second, of those that were tried.
  BatchTry managed;
  BatchTry fastest;
  // The batches nearest to the fastest that were tried too; 0: there is none. Between them a batch
  // that is faster yet was not looked for.
  std::int64_t tried_below = 0;
  std::int64_t tried_above = 0;
  // By batch.
  std::vector<BatchTry> tries;
  // What broke off the search, in one line: the device failed. Then all is as far as the tries
  // before went. Empty: the search came to its end.
  std::string failure{};
  // Then nothing but the tries counts.
  bool was_interrupted = false;
};

// Looks at training and memory of the options. A batch that torch refuses, for whatever reason, is
// one that does not train; a device that fails for another reason than memory ends the search.
// Throws OutOfMemory if no batch fits, what torch threw if the smallest failed for another reason
// or the device failed before a batch did, InvalidInput without a budget in bytes, and else as
// run() does.
MaxBatch max_batch(RunOptions options, const BatchSearch& search, const Hooks& hooks);

}  // namespace lowtide::train
