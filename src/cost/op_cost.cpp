// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cost/op_cost.h"

#include <algorithm>

#include "base/bytes.h"

namespace lowtide::cost {
namespace {

std::int64_t accessed_bytes(const Trace& trace, const Op& op) {
  if (op.accessed_bytes > 0) return op.accessed_bytes;
  std::int64_t bytes = 0;
  for (const Use& use : op.reads) bytes += trace.storage_of(use.value).bytes;
  for (const Use& use : op.writes) bytes += trace.storage_of(use.value).bytes;
  return bytes;
}

double copy_seconds(double latency, std::int64_t bytes, double bytes_per_second) {
  return latency + static_cast<double>(bytes) / bytes_per_second;
}

}  // namespace

double op_seconds(const Trace& trace, const Op& op, const Machine& machine) {
  if (op.device_seconds) return *op.device_seconds;
  double seconds = machine.op_seconds;
  if (machine.flops_per_second > 0) {
    seconds = std::max(seconds, static_cast<double>(op.flops) / machine.flops_per_second);
  }
  if (machine.memory_bytes_per_second > 0) {
    const auto bytes = static_cast<double>(accessed_bytes(trace, op));
    seconds = std::max(seconds, bytes / machine.memory_bytes_per_second);
  }
  return seconds;
}

double issue_seconds(const Op& op, const Machine& machine) {
  return op.host_seconds.value_or(machine.launch_seconds) + machine.watch_seconds;
}

std::int64_t device_bytes(std::int64_t bytes, const Machine& machine) {
  return base::round_up(bytes, machine.allocator.round_bytes);
}

std::int64_t device_bytes(const Storage& storage, const Machine& machine) {
  return device_bytes(storage.bytes, machine);
}

double write_seconds(const Tier& tier, std::int64_t bytes) {
  return copy_seconds(tier.latency_seconds, bytes, tier.write_bytes_per_second);
}

double read_seconds(const Tier& tier, std::int64_t bytes) {
  return copy_seconds(tier.latency_seconds, bytes, tier.read_bytes_per_second);
}

CostTable::CostTable(const Trace& trace, const Machine& machine) {
  op_seconds.reserve(trace.ops().size());
  workspace_bytes.reserve(trace.ops().size());
  for (const Op& op : trace.ops()) {
    op_seconds.push_back(cost::op_seconds(trace, op, machine));
    total_seconds += op_seconds.back();
    workspace_bytes.push_back(device_bytes(op.workspace_bytes, machine));
  }
  value_bytes.reserve(trace.values().size());
  for (const Value& value : trace.values()) {
    value_bytes.push_back(device_bytes(trace.storage(value.storage), machine));
  }
}

}  // namespace lowtide::cost
