// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/capture_layers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace lowtide::run {
namespace {

// "layer1.0" of "layer1.0.conv1" and "layer1.0.bn1"; empty if they have nothing in common.
std::string_view common_part(std::string_view a, std::string_view b) {
  if (a == b) return a;
  std::size_t end = 0;
  for (std::size_t i = 0;; ++i) {
    const bool ends_a = i == a.size() || a[i] == '.';
    const bool ends_b = i == b.size() || b[i] == '.';
    if (ends_a && ends_b) end = i;
    if (i >= a.size() || i >= b.size() || a[i] != b[i]) return a.substr(0, end);
  }
}

class LayerFinder {
 public:
  explicit LayerFinder(const std::vector<std::string>& storage_layers)
      : owners_(storage_layers.begin(), storage_layers.end()), made_(storage_layers.size()) {}

  // Requires: called for the ops in their order.
  std::string_view find(const Capture::OpEvent& op, Phase phase) {
    const std::string_view layer = layer_of(op, phase);
    ++count_;
    if (!layer.empty()) last_[static_cast<std::size_t>(phase)] = layer;
    for (const StorageUse& use : op.writes) made_[use.storage.slot()] = {count_, layer};
    if (phase == Phase::kForward && takes_only_owned(op)) own_results(op, layer);
    // Ops without a node see the number of the last one, which is not theirs.
    if (!op.is_backward) by_node_.try_emplace(op.node, layer);
    return layer;
  }

 private:
  struct Making {
    // Counted from 1; 0: not in this step.
    std::size_t op = 0;
    std::string_view layer{};
  };

  std::string_view layer_of(const Capture::OpEvent& op, Phase phase) const {
    if (const auto own = by_storages(op)) return *own;
    if (phase == Phase::kOptimizer) return {};
    if (op.is_backward) {
      const auto found = by_node_.find(op.node);
      if (found != by_node_.end() && !found->second.empty()) return found->second;
    }
    const std::string_view newest = by_newest(op);
    return newest.empty() ? last_[static_cast<std::size_t>(phase)] : newest;
  }

  std::optional<std::string_view> by_storages(const Capture::OpEvent& op) const {
    std::optional<std::string_view> found;
    for (const StorageId id : op.arguments) {
      const std::string_view layer = owners_[id.slot()];
      if (!layer.empty()) found = found ? common_part(*found, layer) : layer;
    }
    return found;
  }

  // A copy of a weight, such as autocast makes, is the layer's as the weight is.
  bool takes_only_owned(const Capture::OpEvent& op) const {
    return !op.arguments.empty() &&
           std::none_of(op.arguments.begin(), op.arguments.end(),
                        [this](StorageId id) { return owners_[id.slot()].empty(); });
  }
  void own_results(const Capture::OpEvent& op, std::string_view layer) {
    for (const StorageUse& use : op.writes) {
      std::string_view& owner = owners_[use.storage.slot()];
      if (owner.empty()) owner = layer;
    }
  }

  std::string_view by_newest(const Capture::OpEvent& op) const {
    Making newest;
    for (const StorageId id : op.arguments) {
      if (made_[id.slot()].op > newest.op) newest = made_[id.slot()];
    }
    return newest.layer;
  }

  // By storage: the layer it belongs to, whoever made it; empty: none.
  std::vector<std::string_view> owners_;
  // By storage: who wrote it last.
  std::vector<Making> made_;
  std::unordered_map<std::uint64_t, std::string_view> by_node_;
  // By phase.
  std::array<std::string_view, 4> last_{};
  std::size_t count_ = 0;
};

}  // namespace

std::vector<std::string> layers_of_ops(const std::vector<Capture::OpEvent>& ops,
                                       const std::vector<Phase>& phases,
                                       const std::vector<std::string>& storage_layers) {
  std::vector<std::string> layers;
  const auto is_empty = [](const std::string& layer) { return layer.empty(); };
  if (std::all_of(storage_layers.begin(), storage_layers.end(), is_empty)) {
    layers.resize(ops.size());
    return layers;
  }
  LayerFinder finder(storage_layers);
  for (std::size_t i = 0; i < ops.size(); ++i) layers.emplace_back(finder.find(ops[i], phases[i]));
  return layers;
}

}  // namespace lowtide::run
