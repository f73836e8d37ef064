// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/machine.h"
#include "lowtide/trace.h"

namespace lowtide::cost {

// Seconds that an op takes on the device: as measured, else by the machine's roofline.
double op_seconds(const Trace& trace, const Op& op, const Machine& machine);

// Seconds that the host spends to issue it.
double issue_seconds(const Op& op, const Machine& machine);

// Bytes that a value of this storage takes on the device, rounded as the allocator rounds.
std::int64_t device_bytes(const Storage& storage, const Machine& machine);
std::int64_t device_bytes(std::int64_t bytes, const Machine& machine);

// Seconds that a copy of `bytes` takes with the link to itself.
double write_seconds(const Tier& tier, std::int64_t bytes);
double read_seconds(const Tier& tier, std::int64_t bytes);

// By id, for all ops and values of a trace: what planners look up most.
struct CostTable {
  CostTable(const Trace& trace, const Machine& machine);

  double op(OpId id) const { return op_seconds[id.slot()]; }
  std::int64_t value(ValueId id) const { return value_bytes[id.slot()]; }
  std::int64_t workspace(OpId id) const { return workspace_bytes[id.slot()]; }

  std::vector<double> op_seconds;
  std::vector<std::int64_t> value_bytes;
  std::vector<std::int64_t> workspace_bytes;
  // Time of the plain step on the device.
  double total_seconds = 0;
};

}  // namespace lowtide::cost
