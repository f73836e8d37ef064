// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/superneurons_step.h"

#include <algorithm>
#include <array>

#include "policy/storages_to_move.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

template <std::size_t N>
bool has_any(std::string_view name, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(), [name](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  });
}

bool is_cheap_forward(const Op& op) {
  return op.phase == Phase::kForward && op.replayable && is_cheap(op.name);
}

std::vector<bool> cheap_ops(const Trace& trace) {
  std::vector<bool> cheap;
  cheap.reserve(trace.ops().size());
  for (const Op& op : trace.ops()) cheap.push_back(is_cheap_forward(op));
  return cheap;
}

}  // namespace

bool is_cheap(std::string_view op_name) {
  // Products of matrices among them have names that contain those of cheap ops.
  static constexpr std::array<std::string_view, 6> kHeavy{"conv",   "mm",        "matmul",
                                                          "linear", "attention", "lstm"};
  static constexpr std::array<std::string_view, 22> kCheap{
      "pool",    "relu", "elu",   "sigmoid", "tanh",     "silu", "swish", "threshold",
      "softmax", "norm", "lrn",   "drop",    "upsample", "add",  "sub",   "mul",
      "div",     "cat",  "stack", "copy",    "pad",      "clamp"};
  return !has_any(op_name, kHeavy) && has_any(op_name, kCheap);
}

SuperneuronsStep::SuperneuronsStep(const Problem& problem)
    : trace(*problem.trace),
      lifetimes(*trace.lifetimes()),
      algorithms(problem),
      costs(algorithms.costs(algorithms.leanest())),
      reach(trace, lifetimes, {}) {
  find_values(problem);
  find_layer_peak();
}

std::int64_t SuperneuronsStep::working_set(OpId op) const {
  std::int64_t bytes = costs.workspace(op);
  for (const Use& read : trace.reads(op)) bytes += costs.value(read.value);
  for (const Use& write : trace.writes(op)) {
    // A later version takes over the bytes of what the op read there.
    if (trace.value(write.value).version == 0) bytes += costs.value(write.value);
  }
  return bytes;
}

// A value of a cheap op whose input is overwritten in place cannot be had again by cheap ops alone:
// it stands for the checkpoint below it. Segments are told apart by the checkpoints that the step
// has come by, branches or not.
void SuperneuronsStep::find_values(const Problem& problem) {
  const std::vector<bool> cheap = cheap_ops(trace);
  const plan::ReplayReach cheap_reach(trace, lifetimes, {}, cheap);
  const std::vector<bool> may_move = storages_to_move(problem);
  bool is_new_segment = true;
  for (Tick tick = 0; tick < lifetimes.end(); ++tick) {
    const OpId op = lifetimes.op_at(tick);
    if (trace.op(op).phase != Phase::kForward) continue;
    if (!cheap[op.slot()]) is_new_segment = true;
    for (const Use& write : trace.writes(op)) {
      const Storage& storage = trace.storage_of(write.value);
      const auto saved = saved_value(trace, lifetimes, write.value);
      if (!saved || write.side_effect || storage.at_end || storage.pinned) continue;
      if (!cheap_reach.can_drop(write.value)) {
        if (may_move[trace.value(write.value).storage.slot()]) checkpoints.push_back(*saved);
        continue;
      }
      if (is_new_segment) segments.emplace_back();
      is_new_segment = false;
      CheapSegment& segment = segments.back();
      segment.values.push_back(*saved);
      segment.bytes += costs.value(write.value);
    }
  }
  for (CheapSegment& segment : segments) {
    // What the last layer made is read by the layer above first, what it was made of by its own way
    // back.
    const std::size_t count = segment.values.size();
    const SavedValue& read = segment.values[count < 2 ? 0 : count - 2];
    segment.backward_bytes = working_set(lifetimes.op_at(read.first_backward));
  }
  std::stable_sort(
      checkpoints.begin(), checkpoints.end(),
      [](const SavedValue& a, const SavedValue& b) { return a.last_forward < b.last_forward; });
}

void SuperneuronsStep::find_layer_peak() {
  for (std::size_t i = 0; i < trace.ops().size(); ++i) {
    const Phase phase = trace.ops()[i].phase;
    if (phase != Phase::kForward && phase != Phase::kBackward) continue;
    layer_peak_bytes = std::max(layer_peak_bytes, working_set(make_id<OpId>(i)));
  }
}

}  // namespace lowtide::policy
