// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/allocation_walk.h"

#include <algorithm>
#include <limits>
#include <map>

#include "base/check.h"
#include "estimate/gpus.h"
#include "sim/allocator_model.h"

namespace lowtide::estimate {
namespace {

using sim::AllocatorModel;
using Handle = AllocatorModel::Handle;

// When the storages of a step come and go.
class Lives {
 public:
  explicit Lives(const Trace& trace) : trace_(trace) {
    made_by_.resize(trace.ops().size());
    freed_by_.resize(trace.ops().size());
    for (std::size_t i = 0; i < trace.storages().size(); ++i) add(make_id<StorageId>(i));
    find_lazy_states();
  }

  const std::vector<StorageId>& made_by(std::size_t op) const { return made_by_[op]; }
  const std::vector<StorageId>& freed_by(std::size_t op) const { return freed_by_[op]; }
  // What an optimizer makes in its first update, and when that begins.
  const std::vector<bool>& is_lazy() const { return is_lazy_; }
  std::size_t update_start() const { return update_start_; }
  // Of the step before, and let go in this one: its gradients.
  bool is_left_over(StorageId id) const {
    const Storage& storage = trace_.storage(id);
    return storage.at_start && !storage.at_end;
  }

 private:
  void add(StorageId id) {
    const Storage& storage = trace_.storage(id);
    const auto versions = trace_.versions(id);
    if (!storage.at_start && !versions.empty()) {
      made_by_[trace_.value(versions.front()).producer.slot()].push_back(id);
    }
    if (storage.freed_after.valid()) freed_by_[storage.freed_after.slot()].push_back(id);
  }

  void find_lazy_states() {
    is_lazy_.assign(trace_.storages().size(), false);
    update_start_ = trace_.ops().size();
    std::vector<bool> is_used_before(trace_.storages().size(), false);
    for (std::size_t i = 0; i < trace_.ops().size(); ++i) {
      const Op& op = trace_.ops()[i];
      if (op.phase == Phase::kOptimizer) {
        update_start_ = std::min(update_start_, i);
        for (const Use& use : op.writes) mark(use.value, is_used_before);
      } else {
        for (const Use& use : op.reads) is_used_before[slot_of(use)] = true;
      }
    }
  }
  void mark(ValueId value, const std::vector<bool>& is_used_before) {
    const StorageId id = trace_.value(value).storage;
    const Storage& storage = trace_.storage(id);
    if (storage.kind == StorageKind::kState && storage.at_start && !is_used_before[id.slot()]) {
      is_lazy_[id.slot()] = true;
    }
  }
  std::size_t slot_of(const Use& use) const { return trace_.value(use.value).storage.slot(); }

  const Trace& trace_;
  std::vector<std::vector<StorageId>> made_by_, freed_by_;
  std::vector<bool> is_lazy_;
  std::size_t update_start_ = 0;
};

// A convolution's backward op first makes the gradient of its input, by a kernel with a workspace
// of its own, and then that of its weight. The trace has the larger of both workspaces; if that
// holds copies of what was read, the first one does so too. Without it the first gradient would lie
// where the second workspace is to be, and what torch reserves would come out lower than it is.
std::int64_t guessed_early_workspace(const Trace& trace, const Op& op) {
  constexpr std::size_t kReads = 3;  // the result's gradient, the input, the weight
  if (op.name != "convolution_backward" || op.reads.size() < kReads) return 0;
  const auto bytes_of = [&](std::size_t i) {
    return trace.storage(trace.value(op.reads[i].value).storage).bytes;
  };
  const std::int64_t copies = bytes_of(0) + bytes_of(1);
  return op.workspace_bytes < copies ? 0 : copies + bytes_of(2);
}

class Walk {
 public:
  Walk(const Trace& trace, const AllocatorRules& rules, const WalkOptions& options)
      : trace_(trace),
        lives_(trace),
        options_(options),
        model_(rules, std::numeric_limits<std::int64_t>::max()),
        handles_(trace.storages().size(), AllocatorModel::kNothing) {
    for (std::size_t i = 0; i < handles_.size(); ++i) {
      if (is_library_workspace(trace.storages()[i])) libraries_.push_back(make_id<StorageId>(i));
    }
  }

  StepPeak first_step() {
    for (std::size_t i = 0; i < handles_.size(); ++i) {
      const auto id = make_id<StorageId>(i);
      if (!trace_.storage(id).at_start || lives_.is_left_over(id)) continue;
      if (!lives_.is_lazy()[i] && !comes_with_a_product(id)) make(id);
    }
    if (options_.states == StatesMade::kAtStart) make_lazy_states();
    return run_ops(/*is_first=*/true);
  }

  StepPeak next_step() {
    hand_over();
    return run_ops(/*is_first=*/false);
  }

 private:
  void make(StorageId id) { handles_[id.slot()] = model_.malloc(trace_.storage(id).bytes); }
  void let_go(StorageId id) {
    if (handles_[id.slot()] == AllocatorModel::kNothing) return;
    model_.free(handles_[id.slot()]);
    handles_[id.slot()] = AllocatorModel::kNothing;
  }

  // What the step before made and left is what this one finds and lets go, block for block of the
  // same size.
  void hand_over() {
    std::multimap<std::int64_t, Handle> left;
    for (std::size_t i = 0; i < handles_.size(); ++i) {
      const Storage& storage = trace_.storages()[i];
      if (storage.at_start || !storage.at_end) continue;
      left.emplace(storage.bytes, handles_[i]);
      handles_[i] = AllocatorModel::kNothing;
    }
    for (std::size_t i = 0; i < handles_.size(); ++i) {
      const auto id = make_id<StorageId>(i);
      if (!lives_.is_left_over(id)) continue;
      const auto found = left.find(trace_.storage(id).bytes);
      if (found == left.end()) {
        make(id);
      } else {
        handles_[i] = found->second;
        left.erase(found);
      }
    }
    for (const auto& [bytes, handle] : left) model_.free(handle);
  }

  StepPeak run_ops(bool is_first) {
    StepPeak peak;
    peak.allocated_bytes = model_.allocated_bytes();
    for (std::size_t i = 0; i < trace_.ops().size(); ++i) {
      const bool is_update = is_first && i == lives_.update_start();
      if (is_update && options_.states == StatesMade::kInFirstUpdate) make_lazy_states();
      run_op(i, peak);
      for (const StorageId id : lives_.freed_by(i)) let_go(id);
    }
    peak.reserved_bytes = model_.reserved_peak_bytes();
    return peak;
  }

  bool comes_with_a_product(StorageId id) const {
    return std::find(libraries_.begin(), libraries_.end(), id) != libraries_.end();
  }

  // Libraries take theirs when they are first called, in the midst of a step's blocks, and by then
  // the op has its result.
  void make_library_workspaces(const Op& op) {
    for (const StorageId id : libraries_) {
      const bool is_there = handles_[id.slot()] != AllocatorModel::kNothing;
      if (!is_there && takes_library_workspace(op, trace_.storage(id))) make(id);
    }
  }

  void run_op(std::size_t i, StepPeak& peak) {
    const std::vector<StorageId>& made = lives_.made_by(i);
    for (std::size_t k = 0; k < made.size(); ++k) {
      make(made[k]);
      if (k == 0 && made.size() > 1) use_workspace({i, 1, early_workspace(i)}, peak);
    }
    make_library_workspaces(trace_.ops()[i]);
    use_workspace({i, made.size(), trace_.ops()[i].workspace_bytes}, peak);
  }

  std::int64_t early_workspace(std::size_t op) const {
    const std::vector<std::int64_t>& known = options_.early_workspace_bytes;
    return known.empty() ? guessed_early_workspace(trace_, trace_.ops()[op]) : known[op];
  }

  // A moment of an op: how many of its results are there, and what it takes beside them.
  struct Moment {
    std::size_t op = 0;
    std::size_t results = 0;
    std::int64_t workspace_bytes = 0;
  };

  void use_workspace(const Moment& now, StepPeak& peak) {
    const Handle workspace = model_.malloc(now.workspace_bytes);
    if (model_.allocated_bytes() > peak.allocated_bytes || !peak.op.valid()) {
      peak.allocated_bytes = std::max(peak.allocated_bytes, model_.allocated_bytes());
      peak.op = make_id<OpId>(now.op);
      peak.results = now.results;
      peak.workspace_bytes = now.workspace_bytes;
    }
    model_.free(workspace);
  }

  void make_lazy_states() {
    for (std::size_t i = 0; i < handles_.size(); ++i) {
      if (lives_.is_lazy()[i]) make(make_id<StorageId>(i));
    }
  }

  const Trace& trace_;
  const Lives lives_;
  const WalkOptions& options_;
  AllocatorModel model_;
  std::vector<Handle> handles_;
  std::vector<StorageId> libraries_;
};

bool is_there(const Trace& trace, StorageId id, OpId op) {
  const Storage& storage = trace.storage(id);
  const auto versions = trace.versions(id);
  if (storage.freed_after.valid() && storage.freed_after < op) return false;
  if (storage.at_start) return true;
  return !versions.empty() && !(op < trace.value(versions.front()).producer);
}

bool is_made_by(const Trace& trace, StorageId id, OpId op) {
  const auto versions = trace.versions(id);
  return !trace.storage(id).at_start && !versions.empty() &&
         trace.value(versions.front()).producer == op;
}

// All that is there at the peak: storages in their order, then what the op has taken.
std::vector<Held> held_at(const Trace& trace, const StepPeak& peak) {
  std::vector<Held> held;
  std::size_t made = 0;
  for (std::size_t i = 0; i < trace.storages().size(); ++i) {
    const auto id = make_id<StorageId>(i);
    if (!is_there(trace, id, peak.op)) continue;
    if (is_made_by(trace, id, peak.op) && ++made > peak.results) continue;
    held.push_back({id, trace.storages()[i].bytes});
  }
  if (peak.workspace_bytes > 0) held.push_back({StorageId(), peak.workspace_bytes});
  return held;
}

StorageKind kind_of(const Trace& trace, const Held& held) {
  return held.storage.valid() ? trace.storage(held.storage).kind : StorageKind::kWorkspace;
}

}  // namespace

TrainingPeaks walk_training(const Trace& trace, const AllocatorRules& rules,
                            const WalkOptions& options) {
  LT_REQUIRE(options.early_workspace_bytes.empty() ||
                 options.early_workspace_bytes.size() == trace.ops().size(),
             "the workspaces are of another step");
  Walk walk(trace, rules, options);
  TrainingPeaks peaks;
  peaks.first = walk.first_step();
  peaks.steady = walk.next_step();
  return peaks;
}

std::array<std::int64_t, kStorageKinds> bytes_by_kind_at(const Trace& trace, const StepPeak& peak) {
  std::array<std::int64_t, kStorageKinds> bytes{};
  for (const Held& held : held_at(trace, peak)) {
    bytes[static_cast<std::size_t>(kind_of(trace, held))] += held.bytes;
  }
  return bytes;
}

std::vector<Held> largest_at(const Trace& trace, const StepPeak& peak, std::size_t limit) {
  std::vector<Held> held = held_at(trace, peak);
  std::stable_sort(held.begin(), held.end(),
                   [](const Held& a, const Held& b) { return a.bytes > b.bytes; });
  held.resize(std::min(held.size(), limit));
  return held;
}

}  // namespace lowtide::estimate
