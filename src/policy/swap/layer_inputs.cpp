// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/swap/layer_inputs.h"

#include <algorithm>

#include "policy/op_kinds.h"
#include "policy/storages_to_move.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

bool is_convolved(const Trace& trace, const trace::Lifetimes& lifetimes, const SavedValue& saved) {
  const auto reads = lifetimes.of(saved.value).reads;
  return std::any_of(reads.begin(), reads.end(), [&](Tick read) {
    const Op& op = trace.op(lifetimes.op_at(read));
    return read <= saved.last_forward && op.phase == Phase::kForward && is_convolution(op);
  });
}

}  // namespace

std::vector<LayerInput> layer_inputs(const Problem& problem) {
  const Trace& trace = *problem.trace;
  const trace::Lifetimes& lifetimes = *trace.lifetimes();
  const std::vector<bool> may_move = storages_to_move(problem);
  std::vector<LayerInput> inputs;
  for (std::size_t i = 0; i < trace.values().size(); ++i) {
    const auto value = make_id<ValueId>(i);
    const Storage& storage = trace.storage_of(value);
    const bool is_feature_map =
        storage.kind == StorageKind::kActivation || storage.kind == StorageKind::kInput;
    if (!is_feature_map || !may_move[trace.value(value).storage.slot()]) continue;
    const auto saved = saved_value(trace, lifetimes, value);
    if (!saved || !saved->is_read_forward) continue;
    inputs.push_back({*saved, is_convolved(trace, lifetimes, *saved)});
  }
  std::stable_sort(inputs.begin(), inputs.end(), [](const LayerInput& a, const LayerInput& b) {
    return a.saved.last_forward < b.saved.last_forward;
  });
  return inputs;
}

std::vector<SavedValue> inputs_of(LayerSet set, const std::vector<LayerInput>& inputs) {
  std::vector<SavedValue> result;
  if (set == LayerSet::kNone) return result;
  bool takes_next = true;
  for (const LayerInput& input : inputs) {
    if (set != LayerSet::kAll && !input.is_convolved) continue;
    if (takes_next) result.push_back(input.saved);
    if (set == LayerSet::kAlternateConv) takes_next = !takes_next;
  }
  return result;
}

std::vector<LayerWay> ways_to_try(const std::vector<LayerSet>& sets,
                                  std::optional<AlgorithmRule> rule, bool has_choice) {
  std::vector<LayerWay> ways;
  for (const LayerSet set : sets) {
    ways.push_back({set, rule.value_or(AlgorithmRule::kQuickest)});
  }
  if (rule || !has_choice) return ways;
  for (const LayerSet set : sets) {
    if (set != LayerSet::kNone) ways.push_back({set, AlgorithmRule::kWithinBudget});
  }
  return ways;
}

std::optional<AlgorithmRule> read_algorithm_rule(OptionReader& reader) {
  return reader.choice<std::optional<AlgorithmRule>>("algo", std::nullopt,
                                                     {{"dynamic", std::nullopt},
                                                      {"performance", AlgorithmRule::kQuickest},
                                                      {"memory", AlgorithmRule::kLeanest}});
}

}  // namespace lowtide::policy
