// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "support/small_steps.h"

namespace lowtide::support {
namespace {

class TinyStep {
 public:
  explicit TinyStep(std::uint64_t seed) : random_(seed), builder_("tiny_" + std::to_string(seed)) {}

  Trace make() {
    const std::uint64_t layers = 2 + random_.below(3);
    parameter_ = add_storage("w", kStart | kEnd);
    if (chance(30)) running_ = add_storage("r", kStart | kEnd);
    results_.push_back(add_storage("x", kStart | (chance(20) ? kEnd : 0U)));
    for (std::uint64_t i = 0; i < layers; ++i) forward(i);
    add_op({.name = "loss", .reads = {{results_.back()}}, .writes = {{gradient()}}});
    for (std::uint64_t i = layers; i-- > 0;) backward(i);
    if (chance(50)) {
      const StorageId last = gradients_.back();
      add_op({.name = "update",
              .phase = Phase::kOptimizer,
              .reads = {{last}, {parameter_}},
              .writes = {{parameter_}},
              .replayable = false});
    }
    return builder_.build();
  }

 private:
  bool chance(std::uint64_t percent) { return random_.below(100) < percent; }

  // Whether a storage exists before and after the step.
  enum Span : unsigned { kStart = 1, kEnd = 2 };

  StorageId add_storage(std::string name, unsigned span) {
    Storage storage;
    storage.name = std::move(name);
    storage.at_start = (span & kStart) != 0;
    storage.at_end = (span & kEnd) != 0;
    storage.bytes = 1 + static_cast<std::int64_t>(random_.below(6));
    storage.kind = storage.at_end ? StorageKind::kParameter : StorageKind::kActivation;
    return builder_.add_storage(std::move(storage));
  }

  void add_op(OpSpec spec) {
    spec.device_seconds = static_cast<double>(random_.below(5));
    if (chance(30)) spec.workspace_bytes = static_cast<std::int64_t>(random_.below(3));
    builder_.add_op(std::move(spec));
  }

  StorageId gradient() {
    gradients_.push_back(add_storage("g" + std::to_string(gradients_.size()), 0));
    return gradients_.back();
  }

  // Adds a use of the storage unless there is one.
  static void use(std::vector<StorageUse>& uses, StorageId storage) {
    for (const StorageUse& old : uses) {
      if (old.storage == storage) return;
    }
    uses.push_back({storage});
  }

  void forward(std::uint64_t i) {
    OpSpec spec{.name = "f" + std::to_string(i)};
    use(spec.reads, results_.back());
    if (chance(35)) use(spec.reads, results_[random_.below(results_.size())]);
    if (chance(50)) use(spec.reads, parameter_);
    StorageId result = results_.back();
    const bool is_in_place = i > 0 && chance(20);
    if (!is_in_place) result = add_storage("a" + std::to_string(i), 0);
    spec.writes.push_back({result});
    if (running_.valid() && chance(50)) {
      spec.reads.push_back({running_, true});
      spec.writes.push_back({running_, true});
    }
    spec.replayable = !chance(10);
    inputs_.push_back(spec.reads);
    results_.push_back(result);
    add_op(std::move(spec));
  }

  void backward(std::uint64_t i) {
    OpSpec spec{.name = "b" + std::to_string(i), .phase = Phase::kBackward};
    spec.reads.push_back({gradients_.back()});
    for (const StorageUse& input : inputs_[i]) {
      if (!input.side_effect) use(spec.reads, input.storage);
    }
    if (chance(50)) use(spec.reads, results_[i + 1]);
    spec.writes.push_back({chance(30) ? gradients_.back() : gradient()});
    add_op(std::move(spec));
  }

  base::Random random_;
  TraceBuilder builder_;
  StorageId parameter_;
  StorageId running_;
  // Where the input and the result of each layer lie, and what each forward op reads.
  std::vector<StorageId> results_;
  std::vector<std::vector<StorageUse>> inputs_;
  std::vector<StorageId> gradients_;
};

}  // namespace

Trace tiny_step(std::uint64_t seed) { return TinyStep(seed).make(); }

}  // namespace lowtide::support
