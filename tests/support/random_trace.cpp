// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "support/random_trace.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"

namespace lowtide::support {
namespace {

using base::Random;

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed), builder_("random_" + std::to_string(seed)) {}

  Trace make(int ops) {
    const std::uint64_t sources = 1 + random_.below(4);
    for (std::uint64_t i = 0; i < sources; ++i) live_.push_back(add_storage(/*at_start=*/true));
    for (int i = 0; i < ops; ++i) add_op(i, ops);
    return builder_.build();
  }

 private:
  bool chance(std::uint64_t percent) { return random_.below(100) < percent; }

  std::int64_t small(std::uint64_t bound) {
    return static_cast<std::int64_t>(random_.below(bound));
  }

  StorageId add_storage(bool at_start) {
    Storage storage;
    storage.name = "s" + std::to_string(kept_.size());
    storage.bytes = chance(5) ? 0 : 1 + small(20);
    storage.kind = static_cast<StorageKind>(random_.below(kStorageKinds));
    storage.at_start = at_start;
    storage.at_end = chance(at_start ? 60 : 15);
    storage.pinned = chance(5);
    if (chance(20)) {
      storage.codecs.push_back({.name = "zip",
                                .bytes = storage.bytes / 2,
                                .encode_seconds = static_cast<double>(small(3)),
                                .decode_seconds = static_cast<double>(small(3)),
                                .lossless = chance(70)});
    }
    kept_.push_back(storage.at_end);
    return builder_.add_storage(std::move(storage));
  }

  // A few distinct live storages.
  std::vector<StorageId> pick(std::uint64_t most) {
    std::vector<StorageId> result;
    if (live_.empty()) return result;
    for (std::uint64_t n = random_.below(most + 1); n > 0; --n) {
      const StorageId id = live_[random_.below(live_.size())];
      if (std::find(result.begin(), result.end(), id) == result.end()) result.push_back(id);
    }
    return result;
  }

  static bool has(const std::vector<StorageUse>& uses, StorageId id) {
    return std::any_of(uses.begin(), uses.end(),
                       [id](const StorageUse& use) { return use.storage == id; });
  }

  void add_op(int index, int ops) {
    OpSpec spec{.name = "op" + std::to_string(index)};
    const int third = 3 * index / std::max(1, ops);
    spec.phase = chance(5) ? Phase::kOther : static_cast<Phase>(third);
    if (chance(50)) spec.layer = "layer" + std::to_string(random_.below(3));
    add_uses(spec);
    if (chance(15)) spec.views = pick(2);
    add_costs(spec);
    spec.frees = frees();
    builder_.add_op(std::move(spec));
  }

  void add_uses(OpSpec& spec) {
    for (const StorageId id : pick(3)) spec.reads.push_back({id, chance(5)});
    if (chance(25)) {
      for (const StorageId id : pick(1)) {
        // Most in-place writes depend on what was there before.
        if (!has(spec.reads, id) && chance(70)) spec.reads.push_back({id, false});
        spec.writes.push_back({id, chance(20)});
      }
    }
    for (std::uint64_t n = random_.below(3); n > 0; --n) {
      const StorageId id = add_storage(/*at_start=*/false);
      spec.writes.push_back({id, false});
      live_.push_back(id);
    }
  }

  void add_costs(OpSpec& spec) {
    if (chance(80)) spec.device_seconds = static_cast<double>(small(5));
    if (chance(30)) spec.host_seconds = static_cast<double>(small(3));
    if (chance(20)) spec.workspace_bytes = small(10);
    if (chance(20)) spec.flops = small(1000);
    if (chance(20)) spec.accessed_bytes = small(100);
    spec.replayable = !chance(10);
    spec.random = chance(10);
    if (chance(15)) {
      const std::int64_t place = small(3);
      spec.options.push_back({.name = "other",
                              .seconds = static_cast<double>(small(5)),
                              .workspace_bytes = small(10),
                              .bit_exact = chance(70),
                              .on_host = place == 1,
                              .reads_host = place == 2});
    }
  }

  // Lets go of some live storages, whether or not this op used them. What is never freed here is
  // released after its last use.
  std::vector<StorageId> frees() {
    std::vector<StorageId> result;
    for (const StorageId id : pick(2)) {
      if (kept_[id.slot()] || !chance(50)) continue;
      result.push_back(id);
      live_.erase(std::find(live_.begin(), live_.end(), id));
    }
    return result;
  }

  Random random_;
  TraceBuilder builder_;
  // Storages that hold something and are not freed.
  std::vector<StorageId> live_;
  // By storage: whether it exists at the end.
  std::vector<bool> kept_;
};

}  // namespace

Trace random_trace(std::uint64_t seed, int ops) { return Maker(seed).make(ops); }

}  // namespace lowtide::support
