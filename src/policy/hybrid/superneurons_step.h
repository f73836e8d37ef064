// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cost/op_cost.h"
#include "lowtide/plan.h"
#include "plan/replay_reach.h"
#include "policy/algorithms.h"
#include "policy/saved_values.h"
#include "trace/lifetimes.h"

namespace lowtide::policy {

// Pooling, activations, normalisations, dropout and other ops that take little time for the bytes
// they make; by the names of torch's operators.
bool is_cheap(std::string_view op_name);

// The cheap layers between two checkpoints.
struct CheapSegment {
  // What they leave for the backward pass, in the order of the forward pass.
  std::vector<SavedValue> values;
  std::int64_t bytes = 0;
  // What the way back through the last of these layers needs at once.
  std::int64_t backward_bytes = 0;
};

// What SuperNeurons knows of a step before it decides anything.
struct SuperneuronsStep {
  explicit SuperneuronsStep(const Problem& problem);

  const Trace& trace;
  const trace::Lifetimes& lifetimes;
  ConvolutionAlgorithms algorithms;
  // With the least workspace for each convolution.
  cost::CostTable costs;
  // What may be dropped if any replayable op is replayed.
  plan::ReplayReach reach;
  // In the order of the forward pass; those that leave nothing are left out.
  std::vector<CheapSegment> segments;
  // What other layers leave for the backward pass and may be moved, by last forward use.
  std::vector<SavedValue> checkpoints;
  // The most that a layer needs at once, forward or backward (the paper's l_peak).
  std::int64_t layer_peak_bytes = 0;

 private:
  std::int64_t working_set(OpId op) const;
  void find_values(const Problem& problem);
  void find_layer_peak();
};

}  // namespace lowtide::policy
