// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/bounds.h"

#include <algorithm>

#include "cost/op_cost.h"
#include "trace/lifetimes.h"

namespace lowtide::plan {
namespace {

using trace::Tick;

// Bytes of the storages that one op touches, each once, and its workspace.
std::int64_t working_set(const Trace& trace, const Machine& machine, const Op& op,
                         std::vector<OpId>& seen, OpId id) {
  std::int64_t bytes = cost::device_bytes(op.workspace_bytes, machine);
  const auto count = [&](const Use& use) {
    const StorageId storage = trace.value(use.value).storage;
    if (trace.storage(storage).pinned || seen[storage.slot()] == id) return;
    seen[storage.slot()] = id;
    bytes += cost::device_bytes(trace.storage(storage), machine);
  };
  for (const Use& use : op.reads) count(use);
  for (const Use& use : op.writes) count(use);
  return bytes;
}

std::int64_t value_bytes(const Trace& trace, const Machine& machine, ValueId value) {
  return cost::device_bytes(trace.storage_of(value), machine);
}

}  // namespace

MemoryBounds memory_bounds(const Trace& trace, const Machine& machine) {
  return memory_bounds(trace, *trace.lifetimes(), machine);
}

MemoryBounds memory_bounds(const Trace& trace, const trace::Lifetimes& lifetimes,
                           const Machine& machine) {
  MemoryBounds bounds;
  std::int64_t live = 0;
  for (const Storage& storage : trace.storages()) {
    if (storage.at_start) live += cost::device_bytes(storage, machine);
  }
  bounds.plain_peak_bytes = live;
  std::int64_t pinned = 0;
  for (const Storage& storage : trace.storages()) {
    if (storage.pinned && storage.at_start) pinned += cost::device_bytes(storage, machine);
  }
  std::vector<OpId> seen(trace.storages().size());
  for (Tick tick = 0; tick < lifetimes.end(); ++tick) {
    const OpId id = lifetimes.op_at(tick);
    const Op& op = trace.op(id);
    for (const Use& use : op.writes) {
      if (trace.value(use.value).version > 0) continue;  // takes over its storage's bytes
      live += value_bytes(trace, machine, use.value);
      if (trace.storage_of(use.value).pinned) pinned += value_bytes(trace, machine, use.value);
    }
    const std::int64_t now = live + cost::device_bytes(op.workspace_bytes, machine);
    bounds.plain_bytes.push_back(now);
    if (now > bounds.plain_peak_bytes || !bounds.plain_peak_op.valid()) {
      bounds.plain_peak_bytes = std::max(now, bounds.plain_peak_bytes);
      bounds.plain_peak_op = id;
    }
    const std::int64_t needed = pinned + working_set(trace, machine, op, seen, id);
    if (needed > bounds.working_set_bytes || !bounds.working_set_op.valid()) {
      bounds.working_set_bytes = needed;
      bounds.working_set_op = id;
    }
    for (const ValueId dead : lifetimes.deaths(tick)) {
      if (lifetimes.of(dead).overwritten) continue;
      live -= value_bytes(trace, machine, dead);
      if (trace.storage_of(dead).pinned) pinned -= value_bytes(trace, machine, dead);
    }
  }
  return bounds;
}

}  // namespace lowtide::plan
