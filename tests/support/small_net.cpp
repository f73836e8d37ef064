// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "support/small_net.h"

#include <set>

namespace lowtide::support {
namespace {

using Kind = SmallLayer::Kind;

constexpr int kParameterBytes = 12;

class Writer {
 public:
  Writer(const std::vector<SmallLayer>& layers, const SmallNetOptions& options)
      : layers_(layers), options_(options) {}

  std::string write(const std::string& name) {
    storage("x", layers_.empty() ? 1 : layers_.front().bytes, "input start");
    for (int i = 0; i < count(); ++i) declare(i);
    for (int i = 0; i < count(); ++i) forward(i);
    if (options_.has_backward) {
      op("loss", "forward device=1", result(count() - 1), "g" + std::to_string(count() - 1));
      for (int i = count() - 1; i >= 0; --i) backward(i);
      for (int i = 0; i < count(); ++i) update(i);
    }
    return "lowtide-trace 1\nname " + name + "\n" + storages_ + ops_;
  }

 private:
  int count() const { return static_cast<int>(layers_.size()); }
  const SmallLayer& layer(int i) const { return layers_[static_cast<std::size_t>(i)]; }
  static std::string numbered(const char* letter, int i) { return letter + std::to_string(i); }

  // The storage in which the result of a layer lies.
  std::string result(int i) const {
    if (i < 0) return "x";
    return layer(i).kind == Kind::kInPlace ? result(layer(i).inputs.front()) : numbered("a", i);
  }

  void storage(const std::string& name, int bytes, const std::string& rest) {
    storages_ += "storage " + name + " " + std::to_string(bytes) + " " + rest + "\n";
  }

  void op(const std::string& name, const std::string& attributes, const std::string& reads,
          const std::string& writes) {
    ops_ += "op " + name + " " + attributes + " : " + reads + " -> " + writes + "\n";
  }

  void declare(int i) {
    const Kind kind = layer(i).kind;
    if (kind != Kind::kInPlace) storage(numbered("a", i), layer(i).bytes, "activation");
    if (options_.has_backward) storage(numbered("g", i), layer(i).bytes, "temporary");
    if (kind == Kind::kLinear) {
      storage(numbered("w", i), kParameterBytes, "parameter start end");
      if (!options_.has_backward) return;
      storage(numbered("gw", i), kParameterBytes, "gradient");
      for (int s = 0; s < options_.states; ++s)
        storage(state(i, s), kParameterBytes, "state start end");
    }
    if (kind == Kind::kBatchNorm) {
      storage(numbered("mean", i), 4, "activation");
      storage(numbered("running", i), 4, "state start end");
    }
    if (kind == Kind::kDropout) storage(numbered("mask", i), layer(i).bytes / 4, "activation");
  }

  static std::string state(int i, int s) { return numbered("m", i) + "_" + std::to_string(s); }

  void forward(int i) {
    std::string reads;
    for (const int input : layer(i).inputs) reads += " " + result(input);
    const std::string own = result(i);
    switch (layer(i).kind) {
      case Kind::kLinear:
        return op("linear", "forward device=4 workspace=6", reads + " " + numbered("w", i), own);
      case Kind::kInPlace:
        return op("relu_", "forward device=1", reads, own);
      case Kind::kBatchNorm:
        return op("batch_norm", "forward device=2", reads + " ~" + numbered("running", i),
                  own + " " + numbered("mean", i) + " ~" + numbered("running", i));
      case Kind::kDropout:
        return op("dropout", "forward device=1 random", reads, own + " " + numbered("mask", i));
      case Kind::kOnce:
        return op("fetch", "forward device=1 once", reads, own);
    }
  }

  void backward(int i) {
    std::string reads = numbered("g", i);
    std::string writes;
    for (const int input : layer(i).inputs) {
      if (input < 0) continue;
      const std::string gradient = numbered("g", input);
      if (!begun_.insert(input).second) reads += " " + gradient;
      writes += " " + gradient;
    }
    const Kind kind = layer(i).kind;
    if (kind == Kind::kLinear || kind == Kind::kBatchNorm) {
      for (const int input : layer(i).inputs) reads += " " + result(input);
    }
    if (kind == Kind::kInPlace || kind == Kind::kOnce) reads += " " + result(i);
    if (kind == Kind::kBatchNorm) reads += " " + numbered("mean", i);
    if (kind == Kind::kDropout) reads += " " + numbered("mask", i);
    if (kind == Kind::kLinear) {
      reads += " " + numbered("w", i);
      writes += " " + numbered("gw", i);
    }
    op("backward", "backward device=6 workspace=4", reads, writes);
  }

  void update(int i) {
    if (layer(i).kind != Kind::kLinear) return;
    std::string changed = numbered("w", i);
    for (int s = 0; s < options_.states; ++s) changed += " " + state(i, s);
    op("update", "optimizer device=1 once", numbered("gw", i) + " " + changed, changed);
  }

  const std::vector<SmallLayer>& layers_;
  SmallNetOptions options_;
  std::string storages_;
  std::string ops_;
  // Layers whose gradient has been written once.
  std::set<int> begun_;
};

}  // namespace

std::string small_net(const std::string& name, const std::vector<SmallLayer>& layers,
                      const SmallNetOptions& options) {
  return Writer(layers, options).write(name);
}

}  // namespace lowtide::support
