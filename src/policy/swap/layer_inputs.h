// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "lowtide/plan.h"
#include "policy/algorithms.h"
#include "policy/option_reader.h"
#include "policy/saved_values.h"

// What vDNN and its successors move: the inputs of layers that the backward pass reads again.

namespace lowtide::policy {

struct LayerInput {
  SavedValue saved;
  // A convolution reads it.
  bool is_convolved = false;
};

// In the order of the forward pass. An op is a layer, if one of its inputs is wanted again by the
// backward pass.
std::vector<LayerInput> layer_inputs(const Problem& problem);

enum class LayerSet { kNone, kAlternateConv, kConv, kAll };

// The inputs of every layer, of every convolution or of every other one; in order.
std::vector<SavedValue> inputs_of(LayerSet set, const std::vector<LayerInput>& inputs);

struct LayerWay {
  LayerSet set = LayerSet::kNone;
  AlgorithmRule rule = AlgorithmRule::kQuickest;
};

// What to try, one after the other. With a rule for algorithms, each set by that rule. Without one,
// each with the quickest algorithms, and then, if there are others, those sets that move anything
// with less workspace wherever it is too much; that ends with the leanest of all.
std::vector<LayerWay> ways_to_try(const std::vector<LayerSet>& sets,
                                  std::optional<AlgorithmRule> rule, bool has_choice);

// The option `algo`: performance, memory, or dynamic, which is no rule.
std::optional<AlgorithmRule> read_algorithm_rule(OptionReader& reader);

}  // namespace lowtide::policy
