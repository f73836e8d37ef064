// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "layered_trace.h"

#include <string>
#include <vector>

#include "base/random.h"

namespace lowtide::bench {
namespace {

constexpr int kOpsPerLayer = 4;  // forward, two backward, update
constexpr int kLayersPerBlock = 3;

struct Layer {
  StorageId weight;
  StorageId input;
  StorageId output;
};

class Builder {
 public:
  explicit Builder(int ops) : layers_(ops / kOpsPerLayer), builder_("layered"), random_(1) {}

  Trace build() {
    StorageId x = storage("x", StorageKind::kInput, true);
    StorageId skip = x;
    for (int i = 0; i < layers_; ++i) {
      const bool closes_block = i % kLayersPerBlock == kLayersPerBlock - 1;
      const Layer layer{storage("w" + std::to_string(i), StorageKind::kParameter, true, true), x,
                        storage("a" + std::to_string(i), StorageKind::kActivation)};
      std::vector<StorageUse> reads{{layer.input}, {layer.weight}};
      if (closes_block && skip != layer.input) reads.push_back({skip});
      op("layer", Phase::kForward, std::move(reads), {{layer.output}});
      made_.push_back(layer);
      x = layer.output;
      if (closes_block) skip = x;
    }
    backward(x);
    return builder_.build();
  }

 private:
  StorageId storage(const std::string& name, StorageKind kind, bool start = false,
                    bool end = false) {
    Storage s;
    s.name = name;
    s.bytes = static_cast<std::int64_t>(1 + random_.below(64)) << 20U;
    s.kind = kind;
    s.at_start = start;
    s.at_end = end;
    return builder_.add_storage(std::move(s));
  }

  void op(const char* name, Phase phase, std::vector<StorageUse> reads,
          std::vector<StorageUse> writes) {
    OpSpec spec;
    spec.name = name;
    spec.phase = phase;
    spec.reads = std::move(reads);
    spec.writes = std::move(writes);
    spec.device_seconds = 1e-5 * (1 + static_cast<double>(random_.below(100)));
    spec.host_seconds = 4e-6;
    spec.workspace_bytes = static_cast<std::int64_t>(random_.below(4)) << 20U;
    spec.replayable = phase != Phase::kOptimizer;
    builder_.add_op(std::move(spec));
  }

  void backward(StorageId top) {
    StorageId gradient = storage("g", StorageKind::kTemporary);
    op("loss", Phase::kBackward, {{top}}, {{gradient}});
    for (std::size_t i = made_.size(); i-- > 0;) {
      const Layer& layer = made_[i];
      const std::string number = std::to_string(i);
      const StorageId weight_gradient = storage("gw" + number, StorageKind::kGradient);
      const StorageId input_gradient = storage("gx" + number, StorageKind::kTemporary);
      op("weight_gradient", Phase::kBackward, {{layer.input}, {gradient}}, {{weight_gradient}});
      op("input_gradient", Phase::kBackward, {{layer.output}, {layer.weight}, {gradient}},
         {{input_gradient}});
      op("update", Phase::kOptimizer, {{layer.weight}, {weight_gradient}}, {{layer.weight}});
      gradient = input_gradient;
    }
  }

  int layers_;
  TraceBuilder builder_;
  base::Random random_;
  std::vector<Layer> made_;
};

}  // namespace

Trace layered_trace(int ops) { return Builder(ops).build(); }

}  // namespace lowtide::bench
