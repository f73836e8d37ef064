// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/capture.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "base/check.h"
#include "run/torch/capture_layers.h"
#include "trace/names.h"

namespace lowtide::run {

namespace {

// "aten::add_" is "add_" in a trace, and "mine::op" is "mine.op".
std::string trace_name(std::string name) {
  constexpr std::string_view kOwn = "aten::";
  if (name.starts_with(kOwn)) return name.substr(kOwn.size());
  if (const std::size_t colons = name.find("::"); colons != std::string::npos) {
    name.replace(colons, 2, ".");
  }
  return name;
}

}  // namespace

StorageId Capture::number_of(const Cell& cell, bool at_start) {
  const auto [found, is_new] = numbers_.try_emplace(&cell, make_id<StorageId>(storages_.size()));
  if (is_new) {
    storages_.push_back({.at_start = at_start});
    if (cell.label) storages_.back().label = *cell.label;
    log_.on_numbered(cell, found->second);
  }
  StorageEvent& storage = storages_[found->second.slot()];
  storage.bytes = std::max(storage.bytes, cell.value->bytes);
  return found->second;
}

StorageId Capture::used(const Cell& cell, bool is_parameter) {
  const StorageId id = number_of(cell, true);
  if (is_parameter) storages_[id.slot()].is_parameter = true;
  return id;
}

StorageId Capture::made(const Cell& cell) { return number_of(cell, false); }

namespace {

// A storage that several arguments look at is used once.
void merge_uses(std::vector<StorageUse>& uses) {
  std::vector<StorageUse> merged;
  for (const StorageUse& use : uses) {
    const auto found = std::find_if(merged.begin(), merged.end(), [&](const StorageUse& other) {
      return other.storage == use.storage;
    });
    if (found == merged.end()) {
      merged.push_back(use);
    } else {
      found->side_effect = found->side_effect && use.side_effect;
    }
  }
  uses = std::move(merged);
}

}  // namespace

void Capture::add(OpEvent event) {
  merge_uses(event.reads);
  merge_uses(event.writes);
  ops_.push_back(std::move(event));
  log_.op_ended();
}

// Ops of several threads at once end in any order.
double Capture::seconds_until(Clock::time_point start) const {
  if (last_end_ == Clock::time_point() || start < last_end_) return 0;
  return std::chrono::duration<double>(start - last_end_).count();
}

void Capture::on_buried(const Cell& cell) {
  const auto found = numbers_.find(&cell);
  if (found == numbers_.end()) {
    if (!ops_.empty()) {
      log_.on_unused(cell, unused_.size());
      unused_.push_back({cell.value->bytes, ops_.size() - 1});
    }
  } else {
    storages_[found->second.slot()].is_alive = false;
    if (!ops_.empty()) ops_.back().frees.push_back(found->second);
    numbers_.erase(found);
  }
  log_.on_buried(cell);
}

// Autograd says which ops are its own. What comes after the last of them is the optimizer's.
std::vector<Phase> Capture::phases() const {
  std::size_t backward_end = ops_.size();
  while (backward_end > 0 && !ops_[backward_end - 1].is_backward) --backward_end;
  std::vector<Phase> phases;
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const bool is_after = backward_end > 0 && i >= backward_end;
    const Phase before = ops_[i].is_backward ? Phase::kBackward : Phase::kForward;
    phases.push_back(is_after ? Phase::kOptimizer : before);
  }
  return phases;
}

std::vector<StorageKind> Capture::kinds(const std::vector<Phase>& phases) const {
  struct Seen {
    bool made_forward = false;
    bool used_backward = false;
    bool used_by_optimizer = false;
    bool written_by_optimizer = false;
    bool made_backward = false;
  };
  std::vector<Seen> seen(storages_.size());
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    for (const StorageUse& use : ops_[i].reads) {
      seen[use.storage.slot()].used_backward |= phases[i] == Phase::kBackward;
      seen[use.storage.slot()].used_by_optimizer |= phases[i] == Phase::kOptimizer;
    }
    for (const StorageUse& use : ops_[i].writes) {
      seen[use.storage.slot()].made_forward |= phases[i] == Phase::kForward;
      seen[use.storage.slot()].made_backward |= phases[i] == Phase::kBackward;
      seen[use.storage.slot()].written_by_optimizer |= phases[i] == Phase::kOptimizer;
    }
  }
  std::vector<StorageKind> kinds;
  for (std::size_t i = 0; i < storages_.size(); ++i) {
    const StorageEvent& storage = storages_[i];
    const Seen& how = seen[i];
    StorageKind kind = StorageKind::kTemporary;
    // Inside of an op, torch has leaves of its own that look like parameters.
    if (storage.is_parameter && storage.at_start) {
      kind = StorageKind::kParameter;
    } else if (how.made_backward && how.used_by_optimizer) {
      kind = StorageKind::kGradient;
    } else if (storage.at_start) {
      kind =
          how.written_by_optimizer || how.made_forward ? StorageKind::kState : StorageKind::kInput;
    } else if (how.made_forward && how.used_backward) {
      kind = StorageKind::kActivation;
    } else if (storage.is_alive && how.written_by_optimizer) {
      kind = StorageKind::kState;
    }
    kinds.push_back(kind);
  }
  return kinds;
}

engine::StepScript Capture::script() const {
  engine::StepScript script;
  for (const OpEvent& event : ops_) {
    script.lines.push_back({event.signature, static_cast<std::uint32_t>(script.storages.size()),
                            static_cast<std::uint32_t>(event.arguments.size()),
                            static_cast<std::uint32_t>(event.results.size())});
    script.storages.insert(script.storages.end(), event.arguments.begin(), event.arguments.end());
    script.storages.insert(script.storages.end(), event.results.begin(), event.results.end());
  }
  return script;
}

// By op: what it frees. Those that no op uses come after all others, whose numbers are the
// script's; nobody would know them again, so that they stay.
std::vector<std::vector<StorageId>> Capture::add_unused(TraceBuilder& builder) const {
  std::vector<std::vector<StorageId>> frees;
  for (const OpEvent& event : ops_) frees.push_back(event.frees);
  for (std::size_t i = 0; i < unused_.size(); ++i) {
    Storage storage;
    storage.name = base::concat("unused", i);
    storage.bytes = unused_[i].bytes;
    storage.kind = StorageKind::kInput;
    storage.at_start = true;
    storage.pinned = true;
    frees[unused_[i].freed_by].push_back(builder.add_storage(std::move(storage)));
  }
  return frees;
}

// A trace cannot have every name that a user may think of.
std::vector<std::string> Capture::storage_layers() const {
  std::vector<std::string> layers;
  for (const StorageEvent& storage : storages_) {
    const std::string& layer = storage.label.layer;
    layers.push_back(trace::is_name(layer) ? layer : "");
  }
  return layers;
}

void Capture::add_storages(TraceBuilder& builder, const std::vector<StorageKind>& kind_of) const {
  const std::vector<std::string> layers = storage_layers();
  std::unordered_set<std::string> taken;
  for (std::size_t i = 0; i < storages_.size(); ++i) taken.insert(base::concat("s", i));
  for (std::size_t i = 0; i < unused_.size(); ++i) taken.insert(base::concat("unused", i));
  for (std::size_t i = 0; i < storages_.size(); ++i) {
    const std::string& given = storages_[i].label.name;
    const bool is_usable = trace::is_name(given) && taken.insert(given).second;
    Storage storage;
    storage.name = is_usable ? given : base::concat("s", i);
    storage.layer = layers[i];
    storage.bytes = storages_[i].bytes;
    storage.kind = kind_of[i];
    storage.at_start = storages_[i].at_start;
    storage.at_end = storages_[i].is_alive;
    builder.add_storage(std::move(storage));
  }
}

Trace Capture::trace(const std::string& name, OpTimer& timer) const {
  LT_REQUIRE(!ops_.empty(), "no step was captured: call capture_next_step() before step()");
  timer.finish();
  const std::vector<Phase> phase_of = phases();
  std::vector<std::string> layers = layers_of_ops(ops_, phase_of, storage_layers());
  TraceBuilder builder(name);
  add_storages(builder, kinds(phase_of));
  std::vector<std::vector<StorageId>> frees = add_unused(builder);
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const OpEvent& event = ops_[i];
    OpSpec spec;
    spec.name = trace_name(event.name);
    spec.phase = phase_of[i];
    spec.layer = std::move(layers[i]);
    spec.reads = event.reads;
    spec.writes = event.writes;
    spec.views = event.views;
    spec.frees = std::move(frees[i]);
    spec.device_seconds = timer.own_seconds(event.signature);
    spec.host_seconds = timer.host_seconds(event.signature);
    spec.workspace_bytes = event.workspace_bytes;
    spec.replayable = event.is_replayable;
    spec.random = event.is_random;
    builder.add_op(std::move(spec));
  }
  return builder.build();
}

}  // namespace lowtide::run
