// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "train/compare.h"
#include "train/run.h"

// Trains twice from the same seed, plainly and inside a budget, and compares after every step:
// loss, gradients, parameters, buffers, the optimizer's states and the generators' states.

namespace lowtide::train {

struct Difference {
  // From 1.
  std::int64_t step = 0;
  std::string tensor;
  // Nothing if the tensor is in one of the two only, or has another form there.
  std::optional<ElementDifference> element;
};

struct Verdict {
  // Of the managed training.
  Report report;
  std::optional<double> plain_step_seconds;
  // Steps that were compared; fewer than asked for after a difference or an interruption.
  std::int64_t compared_steps = 0;
  std::optional<Difference> difference;
};

// Kernels are made deterministic. Looks at training, memory and steps of the options. Throws as
// run() does, and InvalidInput without a budget or if plain training does not even repeat itself.
Verdict verify(RunOptions options, const Hooks& hooks);

}  // namespace lowtide::train
