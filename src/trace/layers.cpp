// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "trace/layers.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace lowtide::trace {

std::vector<Layer> layers(const Trace& trace) {
  std::vector<Layer> result;
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < trace.ops().size(); ++i) {
    const Op& op = trace.ops()[i];
    if (op.layer.empty()) continue;
    const auto [found, is_new] = places.emplace(op.layer, result.size());
    if (is_new) result.push_back(Layer{.name = op.layer, .ops_by_phase = {}});
    Layer& layer = result[found->second];
    layer.ops_by_phase[static_cast<std::size_t>(op.phase)].push_back(make_id<OpId>(i));
  }
  // Stable: what compares equal has no forward op and keeps the order of first ops.
  std::stable_sort(result.begin(), result.end(), [](const Layer& a, const Layer& b) {
    const std::vector<OpId>& first = a.ops(Phase::kForward);
    const std::vector<OpId>& second = b.ops(Phase::kForward);
    if (first.empty() || second.empty()) return !first.empty() && second.empty();
    return first.front() < second.front();
  });
  return result;
}

PhaseStarts::PhaseStarts(const Trace& trace) {
  for (std::size_t i = 0; i < trace.ops().size(); ++i) {
    std::optional<Tick>& first = first_[static_cast<std::size_t>(trace.ops()[i].phase)];
    if (!first) first = static_cast<Tick>(i);
  }
}

}  // namespace lowtide::trace
